//! The proof over the network: [`Dialer`] makes the clients, and they count nodes.
//!
//! Invariant: this is the one caller of [`connect::connect`], so no other part of the program makes a client.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use super::proof::{Cluster, Connect, CountedPage, plain_count};
use super::{Counts, Namespace};
use crate::connect::{self, ClusterClient, ConnectError, Dialer, ReadError, Resource, ResourcePath};
use crate::endpoint::EndpointPolicy;
use crate::kubeconfig::SafeKubeconfig;

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
        let body = self.open_list(&path, &page_query(after), PAGE_LIMIT).await?.collect().await?;
        let broken = |what| ReadError::Decode { server: Self::server(self).to_owned(), what, offset: 0 };
        let list: NodeList =
            serde_json::from_slice(&body).map_err(|_| broken("a list of nodes of another shape"))?;
        if list.kind != path.expected_kind() {
            return Err(ReadError::WrongKind {
                server: Self::server(self).to_owned(),
                expected: path.expected_kind(),
            });
        }
        Ok(count(&list))
    }

    async fn prove_pods(&self, namespace: &Namespace) -> Result<(), ReadError> {
        self.prove_list(&ResourcePath::pods_in(namespace)).await
    }
}

fn page_query(after: Option<&str>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &PAGE.to_string());
    if let Some(mark) = after {
        query.append_pair("continue", mark);
    }
    query.finish()
}

/// The few fields of a list of nodes that are counted. A node may be of any shape: it counts as a node all the same.
#[derive(Deserialize)]
struct NodeList {
    kind: String,
    #[serde(default)]
    metadata: ListMeta,
    #[serde(default)]
    items: Option<Vec<Value>>,
}

#[derive(Deserialize, Default)]
struct ListMeta {
    #[serde(default, rename = "continue")]
    next: Option<String>,
}

fn count(list: &NodeList) -> CountedPage {
    let mut counts = Counts::default();
    for node in list.items.iter().flatten() {
        let allocatable = |resource: &str| {
            node.pointer("/status/allocatable").and_then(|map| map.get(resource)).map_or(0, device_count)
        };
        counts = counts
            + Counts {
                nodes: 1,
                nvidia_gpu: allocatable("nvidia.com/gpu"),
                amd_gpu: allocatable("amd.com/gpu"),
            };
    }
    CountedPage { counts, next: list.metadata.next.clone().filter(|mark| !mark.is_empty()) }
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
    use serde_json::json;

    use super::*;

    fn counted(list: serde_json::Value) -> CountedPage {
        count(&serde_json::from_value(list).expect("a list"))
    }

    #[test]
    fn allocatable_of_exactly_two_resources_is_summed() {
        let page = counted(json!({"kind": "NodeList", "metadata": {"continue": "next"}, "items": [
            {"status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "64"}, "capacity": {"nvidia.com/gpu": "16"}}},
            {"status": {"allocatable": {"amd.com/gpu": 4, "nvidia.com/mig-1g.10gb": "7", "nvidia.com/gpu.shared": "9"}}},
        ]}));
        assert_eq!(page.counts, Counts { nodes: 2, nvidia_gpu: 8, amd_gpu: 4 });
        assert_eq!(page.next.as_deref(), Some("next"));
    }

    #[test]
    fn a_node_that_reports_nonsense_counts_as_a_node_and_fails_nothing() {
        let page = counted(json!({"kind": "NodeList", "metadata": {"continue": ""}, "items": [
            null, 7, {}, {"status": null}, {"status": {"allocatable": []}},
            {"status": {"allocatable": {"nvidia.com/gpu": "eight", "amd.com/gpu": -1}}},
            {"status": {"allocatable": {"nvidia.com/gpu": {"a": 1}, "amd.com/gpu": 1.5}}},
        ]}));
        assert_eq!(page.counts, Counts { nodes: 7, nvidia_gpu: 0, amd_gpu: 0 });
        assert_eq!(page.next, None, "an empty mark is none");
        assert_eq!(counted(json!({"kind": "NodeList", "items": null})).counts, Counts::default());
    }
}
