//! The namespace screen: the namespaces of a cluster and the pods in one.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::fleet::ScopeView;

/// One namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceRow {
    /// Name.
    pub name: String,
    /// `Active` or `Terminating`; `null` where the namespace object itself may not be read.
    pub phase: Option<String>,
    /// When it was made.
    pub created: Option<String>,
}

/// The namespaces of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceList {
    /// The cluster.
    pub cluster: String,
    /// The bound of the registration.
    pub scope: ScopeView,
    /// By name; of a bounded registration, its bound.
    pub namespaces: Vec<NamespaceRow>,
    /// When they were read.
    pub observed_at: String,
}

/// Asks for the pods of one namespace, or of the whole bound.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodsRequest {
    /// The cluster.
    pub cluster: String,
    /// The namespace; `null` for every namespace that the registration may address.
    pub namespace: Option<String>,
}

/// One pod. Its containers' environment is never read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PodRow {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Status as kubectl prints it (`Running`, `CrashLoopBackOff`, `Init:0/2`, ...).
    pub status: String,
    /// `good`, `waiting`, `bad` or `done`: how to colour the status.
    pub health: String,
    /// Ready containers.
    pub ready: u32,
    /// Containers.
    pub containers: u32,
    /// Restarts.
    pub restarts: u32,
    /// When it last restarted.
    pub last_restart: Option<String>,
    /// Node.
    pub node: Option<String>,
    /// Address.
    pub ip: Option<String>,
    /// `Kind/name` of the controller.
    pub owner: Option<String>,
    /// When it was created.
    pub created: Option<String>,
    /// Accelerators it asks for, as `resource × n`.
    pub accelerators: Vec<String>,
    /// Why it waits, in the server's words.
    pub reason: Option<String>,
}

/// The pods of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PodList {
    /// The cluster.
    pub cluster: String,
    /// The namespaces that were read.
    pub namespaces: Vec<String>,
    /// Namespaces that could not be read, and why.
    pub failed: Vec<FailedNamespace>,
    /// The pods, by namespace and name.
    pub pods: Vec<PodRow>,
    /// When they were read.
    pub observed_at: String,
}

/// A namespace whose pods could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FailedNamespace {
    /// Name.
    pub namespace: String,
    /// Why.
    pub error: crate::AppError,
}
