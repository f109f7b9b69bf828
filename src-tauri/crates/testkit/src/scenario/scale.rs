//! A cluster of any size: every object is a pure function of its place in the list.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::nodes::{Card, NodePlan};
use super::pods::PodPlan;
use super::uid;

/// How large, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Nodes; three in four carry eight H100.
    pub nodes: usize,
    /// Pods, spread over nodes and namespaces; one in five asks for a card.
    pub pods: usize,
    /// Namespaces, at least 1.
    pub namespaces: usize,
    /// At least this many bytes of JSON per node (real ones: 12,000 to 20,000).
    pub node_bytes: usize,
    /// At least this many bytes of JSON per pod (real ones: about 8,000).
    pub pod_bytes: usize,
    /// Ages are relative to this.
    pub now: Timestamp,
    /// Varies ages and ids.
    pub seed: u64,
}

impl Scale {
    /// Objects of the sizes that real clusters have.
    pub const fn real(nodes: usize, pods: usize, now: Timestamp) -> Self {
        Self { nodes, pods, namespaces: 20, node_bytes: 16_000, pod_bytes: 8_000, now, seed: 1 }
    }

    /// The name of the namespace at this place.
    pub fn namespace(&self, at: usize) -> String {
        format!("team-{at:04}")
    }

    /// Which pods are in a namespace: they are listed namespace by namespace, as a server sorts them.
    pub fn pods_of(&self, namespace: &str) -> std::ops::Range<usize> {
        let each = self.pods.div_ceil(self.namespaces.max(1));
        let found = (0..self.namespaces.max(1)).find(|at| self.namespace(*at) == namespace);
        found.map_or(0..0, |at| (at * each).min(self.pods)..((at + 1) * each).min(self.pods))
    }

    fn node_name(&self, at: usize) -> String {
        format!("node-{at:06}")
    }

    /// The Node at this place.
    pub fn node(&self, at: usize) -> Value {
        let card = if at % 4 == 3 { Card::None } else { Card::H100 };
        let name = self.node_name(at);
        let mut node = NodePlan::new("node", card, "eu-west-1a").object("scale", self.now, self.seed);
        node["metadata"]["uid"] = uid(&name, self.seed).into();
        node["metadata"]["labels"]["kubernetes.io/hostname"] = name.as_str().into();
        node["status"]["addresses"][1]["address"] = name.as_str().into();
        node["metadata"]["name"] = name.into();
        pad(&mut node, self.node_bytes);
        node
    }

    /// The Pod at this place.
    pub fn pod(&self, at: usize) -> Value {
        let each = self.pods.div_ceil(self.namespaces.max(1)).max(1);
        let mut plan = PodPlan::running("team", "Deployment", "server", "team/server:v41", &["node"]);
        if at.is_multiple_of(5) {
            plan = plan.asking("nvidia.com/gpu", 1);
        }
        let name = format!("server-{at:07}");
        let mut pod = plan.objects("scale", self.now, self.seed).swap_remove(0);
        pod["metadata"]["uid"] = uid(&name, self.seed).into();
        pod["metadata"]["name"] = name.into();
        pod["metadata"]["namespace"] = self.namespace(at / each).into();
        if self.nodes > 0 {
            pod["spec"]["nodeName"] = self.node_name(at % self.nodes).into();
        }
        pad(&mut pod, self.pod_bytes);
        pod
    }
}

/// Fills an object up with `managedFields`, which is what makes real objects large.
fn pad(object: &mut Value, bytes: usize) {
    let mut missing = bytes.saturating_sub(object.to_string().len() + 150);
    let mut fields = Map::new();
    let mut at = 0_usize;
    while missing > 0 {
        let key = format!("f:example.com/annotation-of-a-controller-{at:05}");
        let cost = key.len() + 17;
        fields.insert(key, json!({"f:value": {}}));
        missing = missing.saturating_sub(cost);
        at += 1;
    }
    object["metadata"]["managedFields"] = json!([{
        "manager": "kubelet", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:annotations": fields}}, "subresource": "status",
    }]);
}
