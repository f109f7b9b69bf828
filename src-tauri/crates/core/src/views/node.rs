//! One node, as a row.
//!
//! Roles and addresses follow kubectl (`findNodeRoles`, `getNodeInternalIP` in Kubernetes' `printers.go`). A condition
//! counts as a problem only where its polarity is known: that of the kubelet's own conditions and of the node problem
//! detector's defaults. Deliberately absent: accelerators, which [`crate::inventory`] counts.

use jiff::Timestamp;
use serde::Deserialize;

use super::node_labels::NodeLabels;
use super::text::{Text, filled, instant, kept, sentence};
use crate::inventory::quantity::Quantity;

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeRow {
    /// Name.
    pub name: Box<str>,
    /// Whether the kubelet says that it can run pods; `None` where its state is unknown.
    pub ready: Option<bool>,
    /// Whether the scheduler may place pods (not cordoned).
    pub schedulable: bool,
    /// Roles, sorted.
    pub roles: Box<[Box<str>]>,
    /// The kubelet's version.
    pub version: Option<Box<str>>,
    /// The provider's machine type.
    pub instance_type: Option<Box<str>>,
    /// Region.
    pub region: Option<Box<str>>,
    /// Zone.
    pub zone: Option<Box<str>>,
    /// The first internal address.
    pub internal_ip: Option<Box<str>>,
    /// Allocatable CPU in thousandths of a core.
    pub cpu_milli: Option<i64>,
    /// Allocatable memory in MiB, rounded down.
    pub memory_mib: Option<i64>,
    /// How many pods it may run.
    pub max_pods: Option<i64>,
    /// How many pods run or wait on it, where they were counted.
    pub pods: Option<u32>,
    /// When it joined.
    pub created: Option<Timestamp>,
    /// Conditions that are not as they should be, in words.
    pub problems: Box<[Box<str>]>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(default)]
    spec: Option<Spec>,
    #[serde(borrow, default)]
    status: Option<Status<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, default)]
    creation_timestamp: Option<Text<'a>>,
    #[serde(default)]
    labels: Option<NodeLabels>,
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    unschedulable: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    allocatable: Option<Amounts<'a>>,
    #[serde(borrow)]
    conditions: Option<Vec<Condition<'a>>>,
    #[serde(borrow)]
    addresses: Option<Vec<Address<'a>>>,
    #[serde(borrow)]
    node_info: Option<NodeInfo<'a>>,
}

#[derive(Deserialize)]
struct Amounts<'a> {
    #[serde(borrow, default)]
    cpu: Option<Text<'a>>,
    #[serde(borrow, default)]
    memory: Option<Text<'a>>,
    #[serde(borrow, default)]
    pods: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Condition<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    status: Option<Text<'a>>,
    #[serde(borrow, default)]
    reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    message: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Address<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    address: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeInfo<'a> {
    #[serde(borrow, default)]
    kubelet_version: Option<Text<'a>>,
}

impl NodeRow {
    /// Reads an item of a node list.
    ///
    /// # Errors
    /// The parser's, where the item is no node. Its text may quote the item; it is for counting, not for showing.
    pub fn from_item(item: &[u8]) -> Result<Self, serde_json::Error> {
        let wire: Wire<'_> = serde_json::from_slice(item)?;
        let labels = wire.metadata.labels.unwrap_or_default();
        let status = wire.status.unwrap_or_default();
        let conditions = status.conditions.unwrap_or_default();
        let amount = |of: fn(&Amounts<'_>) -> Option<Quantity>| status.allocatable.as_ref().and_then(of);
        Ok(Self {
            name: wire.metadata.name.boxed(),
            ready: ready(&conditions),
            schedulable: wire.spec.and_then(|spec| spec.unschedulable) != Some(true),
            roles: labels.roles.into_iter().collect(),
            version: status.node_info.and_then(|info| kept(&info.kubelet_version)),
            instance_type: labels.instance_type,
            region: labels.region,
            zone: labels.zone,
            internal_ip: status.addresses.as_deref().and_then(internal_ip),
            cpu_milli: amount(|of| quantity(&of.cpu)).map(Quantity::millis),
            memory_mib: amount(|of| quantity(&of.memory)).map(|bytes| bytes.floor() / (1024 * 1024)),
            max_pods: amount(|of| quantity(&of.pods)).map(Quantity::floor),
            pods: None,
            created: instant(&wire.metadata.creation_timestamp),
            problems: conditions.iter().filter_map(problem).collect(),
        })
    }
}

fn quantity(text: &Option<Text<'_>>) -> Option<Quantity> {
    filled(text)?.parse().ok()
}

fn ready(conditions: &[Condition<'_>]) -> Option<bool> {
    let ready = conditions.iter().find(|condition| filled(&condition.kind) == Some("Ready"))?;
    match filled(&ready.status) {
        Some("True") => Some(true),
        Some("False") => Some(false),
        _ => None,
    }
}

fn internal_ip(addresses: &[Address<'_>]) -> Option<Box<str>> {
    addresses
        .iter()
        .find(|address| filled(&address.kind) == Some("InternalIP"))
        .and_then(|at| kept(&at.address))
}

/// Conditions that are bad when they are true: the kubelet's, and the defaults of the node problem detector.
const BAD_WHEN_TRUE: [(&str, &str); 12] = [
    ("MemoryPressure", "Memory pressure"),
    ("DiskPressure", "Disk pressure"),
    ("PIDPressure", "Too many processes"),
    ("NetworkUnavailable", "Network unavailable"),
    ("KernelDeadlock", "Kernel deadlock"),
    ("ReadonlyFilesystem", "Read-only file system"),
    ("XfsShutdown", "XFS shut down"),
    ("CperHardwareErrorFatal", "Fatal hardware error"),
    ("FrequentKubeletRestart", "Kubelet restarts often"),
    ("FrequentContainerdRestart", "Containerd restarts often"),
    ("FrequentUnregisterNetDevice", "Network devices come and go"),
    ("CorruptDockerOverlay2", "Corrupt image storage"),
];

fn problem(condition: &Condition<'_>) -> Option<Box<str>> {
    let kind = filled(&condition.kind)?;
    let status = filled(&condition.status);
    let what = if kind == "Ready" {
        match status {
            Some("True") => return None,
            Some("False") => "Not ready",
            _ => "State unknown",
        }
    } else {
        let (_, words) = BAD_WHEN_TRUE.iter().find(|(name, _)| *name == kind && status == Some("True"))?;
        words
    };
    let why = filled(&condition.message).or_else(|| filled(&condition.reason));
    let text = why.map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"));
    sentence(&text, 200)
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
