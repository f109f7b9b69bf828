//! The client of one API server.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{AccessAnswer, AccessQuestion, ConnectError, Dialer, ReadError, ResourcePath};
use crate::kubeconfig::SafeKubeconfig;

/// The client of one API server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct ClusterClient {}

/// What `/version` says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// `v1.36.2`, with whatever the distribution appends.
    pub git_version: String,
    /// `1`.
    #[serde(default)]
    pub major: String,
    /// `36`, on some providers with a `+`.
    #[serde(default)]
    pub minor: String,
    /// `linux/amd64`.
    #[serde(default)]
    pub platform: String,
}

impl ClusterClient {
    pub(super) async fn build(_kubeconfig: &SafeKubeconfig, _dialer: &Dialer) -> Result<Self, ConnectError> {
        unimplemented!("the transport lands next")
    }

    /// The API server as `host:port`.
    pub fn server(&self) -> &str {
        unimplemented!("the transport lands next")
    }

    /// The server's version: the cheapest proof that a Kubernetes API answers.
    ///
    /// # Errors
    /// [`ReadError`], with every fault of the connection and the answer.
    pub async fn version(&self) -> Result<ServerVersion, ReadError> {
        self.get_json(&ResourcePath::version()).await
    }

    /// Asks the cluster what the credential may do.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn access(&self, _question: &AccessQuestion) -> Result<AccessAnswer, ReadError> {
        unimplemented!("the transport lands next")
    }

    /// Lists at most one object: the proof that a list is allowed and answered.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn prove_list(&self, _path: &ResourcePath) -> Result<(), ReadError> {
        unimplemented!("the transport lands next")
    }

    /// One object.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn get_json<T: DeserializeOwned>(&self, _path: &ResourcePath) -> Result<T, ReadError> {
        unimplemented!("the transport lands next")
    }
}
