//! The proof over the network: [`Dialer`] makes the clients, and they count nodes.
//!
//! Invariant: this is the one caller of [`connect::connect`], so no other part of the program makes a client.

use async_trait::async_trait;
use serde_json::Value;

use super::proof::{Cluster, Connect, CountedPage, plain_count};
use super::{Counts, Namespace};
use crate::connect::{self, ClusterClient, ConnectError, Dialer, ReadError, Resource, ResourcePath};
use crate::endpoint::EndpointPolicy;
use crate::kubeconfig::SafeKubeconfig;
use crate::reads::{ListLimits, Listed, page_fold};

/// Nodes to a page. A node is 10-50 KiB with its images, up to 200 KiB.
const PAGE: u32 = 100;
/// The largest page that is read, in bytes.
const PAGE_LIMIT: u64 = 32 * 1024 * 1024;

#[async_trait]
impl Connect for Dialer {
    type Client = ClusterClient;

    fn policy(&self) -> EndpointPolicy {
        Self::policy(self)
    }

    async fn client(&self, kubeconfig: &SafeKubeconfig) -> Result<ClusterClient, ConnectError> {
        connect::connect(kubeconfig, self).await
    }
}

#[async_trait]
impl Cluster for ClusterClient {
    fn server(&self) -> String {
        Self::server(self).to_owned()
    }

    async fn git_version(&self) -> Result<String, ReadError> {
        Ok(self.version().await?.git_version)
    }

    async fn count_page(&self, after: Option<&str>) -> Result<CountedPage, ReadError> {
        let path = ResourcePath::all(Resource::Nodes);
        let mut page = Listed::<Counts>::default();
        let mut fold = |counts: &mut Counts, item: &[u8]| {
            *counts = *counts + count(item);
            Ok(())
        };
        let next = page_fold(self, &path, &limits(), after, &mut page, &mut fold).await?;
        Ok(CountedPage { counts: page.rows, next })
    }

    async fn prove_pods(&self, namespace: &Namespace) -> Result<(), ReadError> {
        self.prove_list(&ResourcePath::pods_in(namespace)).await
    }
}

fn limits() -> ListLimits {
    ListLimits { page_items: PAGE, page_bytes: PAGE_LIMIT, ..ListLimits::default() }
}

/// Counts one item of a list of nodes. It may be of any shape: it counts as a node all the same.
fn count(item: &[u8]) -> Counts {
    let node: Value = serde_json::from_slice(item).unwrap_or_default();
    let allocatable = |resource: &str| {
        node.pointer("/status/allocatable").and_then(|map| map.get(resource)).map_or(0, device_count)
    };
    Counts { nodes: 1, nvidia_gpu: allocatable("nvidia.com/gpu"), amd_gpu: allocatable("amd.com/gpu") }
}

/// A quantity is a string; some components write a plain number.
fn device_count(quantity: &Value) -> u64 {
    match quantity {
        Value::String(text) => plain_count(text),
        Value::Number(number) => number.as_u64().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::connect::scripted::{client_of, json};

    use super::*;

    async fn counted(body: &'static str) -> CountedPage {
        let (client, _) = client_of(move |_| json(200, body)).await;
        client.count_page(None).await.expect("a page")
    }

    #[tokio::test]
    async fn allocatable_of_exactly_two_resources_is_summed() {
        let page = counted(
            r#"{"kind": "NodeList", "metadata": {"continue": "next"}, "items": [
            {"status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "64"}, "capacity": {"nvidia.com/gpu": "16"}}},
            {"status": {"allocatable": {"amd.com/gpu": 4, "nvidia.com/mig-1g.10gb": "7", "nvidia.com/gpu.shared": "9"}}}
        ]}"#,
        )
        .await;
        assert_eq!(page.counts, Counts { nodes: 2, nvidia_gpu: 8, amd_gpu: 4 });
        assert_eq!(page.next.as_deref(), Some("next"));
    }

    #[tokio::test]
    async fn a_node_that_reports_nonsense_counts_as_a_node_and_fails_nothing() {
        let page = counted(
            r#"{"kind": "NodeList", "metadata": {"continue": ""}, "items": [
            null, 7, {}, {"status": null}, {"status": {"allocatable": []}}, {"status": nonsense},
            {"status": {"allocatable": {"nvidia.com/gpu": "eight", "amd.com/gpu": -1}}},
            {"status": {"allocatable": {"nvidia.com/gpu": {"a": 1}, "amd.com/gpu": 1.5}}}
        ]}"#,
        )
        .await;
        assert_eq!(page.counts, Counts { nodes: 8, nvidia_gpu: 0, amd_gpu: 0 });
        assert_eq!(page.next, None, "an empty mark is none");
        assert_eq!(counted(r#"{"kind": "NodeList", "items": null}"#).await.counts, Counts::default());
    }

    #[tokio::test]
    async fn pages_of_a_hundred_nodes_are_asked_for_one_after_the_other() {
        let (client, network) = client_of(|_| json(200, r#"{"kind": "NodeList", "items": []}"#)).await;
        client.count_page(None).await.expect("a page");
        client.count_page(Some("a&b")).await.expect("a page");
        let lines: Vec<String> = network.seen().into_iter().map(|seen| seen.line).collect();
        assert_eq!(lines, ["GET /api/v1/nodes?limit=100", "GET /api/v1/nodes?limit=100&continue=a%26b"]);
    }

    #[tokio::test]
    async fn pods_in_place_of_nodes_are_refused() {
        let (client, _) = client_of(|_| json(200, r#"{"kind": "PodList", "items": []}"#)).await;
        assert_eq!(client.count_page(None).await.expect_err("pods").code(), "wrong_kind");
    }
}
