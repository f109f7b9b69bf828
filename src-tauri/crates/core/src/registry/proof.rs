//! The proof that a cluster answers with the credential at hand, given before anything is sealed.
//!
//! A registration of a whole cluster lists its nodes, which is proof and count in one. A bounded registration may not
//! do that: it shows that the server answers and that pods can be listed in each of its namespaces, and how many nodes
//! there are stays unknown.
//!
//! Invariants: the proof ends within [`PROOF_DEADLINE`]; a node whose count is malformed counts as none and fails
//! nothing; a cluster too large to be counted in time is registered with its counts unknown, not as part of them.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Counts, Namespace, NamespaceBound};
use crate::connect::{ConnectError, ReadError, Stage};
use crate::endpoint::EndpointPolicy;
use crate::kubeconfig::SafeKubeconfig;

/// How long a cluster has to prove itself.
pub const PROOF_DEADLINE: Duration = Duration::from_secs(15);
/// How many namespaces are asked at once.
const NAMESPACES_AT_ONCE: usize = 8;

/// What makes a cluster's client from its kubeconfig. There is one for the network, [`crate::connect::Dialer`]; tests
/// bring others.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    /// The client it makes.
    type Client: Cluster;

    /// Where API servers may be.
    fn policy(&self) -> EndpointPolicy;

    /// Makes a client. Nothing is dialled yet.
    ///
    /// # Errors
    /// [`ConnectError`] where the kubeconfig's material cannot be used or its address may not be dialled.
    async fn client(&self, kubeconfig: &SafeKubeconfig) -> Result<Self::Client, ConnectError>;
}

/// What the proof asks of a cluster.
#[async_trait]
pub trait Cluster: Clone + Send + Sync + 'static {
    /// The API server as `host:port`.
    fn server(&self) -> String;

    /// The server's version.
    async fn git_version(&self) -> Result<String, ReadError>;

    /// One page of nodes, counted; `after` is the mark of the page before.
    async fn count_page(&self, after: Option<&str>) -> Result<CountedPage, ReadError>;

    /// Shows that pods can be listed in a namespace.
    async fn prove_pods(&self, namespace: &Namespace) -> Result<(), ReadError>;
}

/// One page of nodes, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CountedPage {
    /// The nodes of this page.
    pub counts: Counts,
    /// The mark of the next page.
    pub next: Option<String>,
}

/// What a cluster has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The server's version (`v1.36.2`).
    pub version: String,
    /// What was counted; `None` where it cannot be.
    pub counts: Option<Counts>,
}

/// Has the cluster prove itself for this bound.
pub(super) async fn prove(cluster: &impl Cluster, bound: &NamespaceBound) -> Result<Proof, ReadError> {
    let late = || ReadError::Timeout { server: cluster.server(), stage: Stage::Page, after: PROOF_DEADLINE };
    let deadline = tokio::time::Instant::now() + PROOF_DEADLINE;
    let version = tokio::time::timeout_at(deadline, cluster.git_version()).await.map_err(|_| late())??;
    let counts = match bound {
        NamespaceBound::WholeCluster => {
            let first =
                tokio::time::timeout_at(deadline, cluster.count_page(None)).await.map_err(|_| late())??;
            // The first page is the proof; what the others say is only worth something when all of them came.
            let rest = tokio::time::timeout_at(deadline, count_rest(cluster, first));
            rest.await.ok().and_then(Result::ok)
        }
        NamespaceBound::Only(namespaces) => {
            let questions: Vec<_> =
                namespaces.iter().map(|namespace| cluster.prove_pods(namespace)).collect();
            let asked = stream::iter(questions).buffer_unordered(NAMESPACES_AT_ONCE).try_collect::<()>();
            tokio::time::timeout_at(deadline, asked).await.map_err(|_| late())??;
            None
        }
    };
    Ok(Proof { version, counts })
}

async fn count_rest(cluster: &impl Cluster, first: CountedPage) -> Result<Counts, ReadError> {
    let CountedPage { mut counts, mut next } = first;
    while let Some(mark) = next {
        let page = cluster.count_page(Some(&mark)).await?;
        counts = counts + page.counts;
        next = page.next;
    }
    Ok(counts)
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            nvidia_gpu: self.nvidia_gpu.saturating_add(other.nvidia_gpu),
            amd_gpu: self.amd_gpu.saturating_add(other.amd_gpu),
        }
    }
}

/// A count of whole devices out of `status.allocatable`: digits and nothing else. Anything else is none, since one
/// node that reports nonsense must not cost the cluster its inventory; a number too large to hold is the largest.
pub fn plain_count(quantity: &str) -> u64 {
    let digits = quantity.trim();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "proof_tests.rs"]
mod tests;
