//! The cluster screen: its nodes with what they offer.

use serde::Serialize;
use ts_rs::TS;

use super::fleet::{ClusterRow, UnitCounts};

/// One pool of accelerators on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PoolView {
    /// Vendor.
    pub vendor: String,
    /// Kind (`gpu`, `mig`, ...).
    pub kind: String,
    /// Resource or driver.
    pub resource: String,
    /// `device-plugin` or `dra`.
    pub source: String,
    /// Short model name.
    pub model: Option<String>,
    /// Memory of one unit in MiB.
    #[ts(type = "number | null")]
    pub memory_mib: Option<i64>,
    /// Units that the node knows, healthy or not.
    #[ts(type = "number | null")]
    pub capacity: Option<i64>,
    /// The sums.
    pub units: UnitCounts,
}

/// A pod that holds units of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HolderView {
    /// Namespace.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Resource.
    pub resource: String,
    /// Units held.
    #[ts(type = "number")]
    pub units: i64,
    /// When the pod was created.
    pub since: Option<String>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeView {
    /// Name.
    pub name: String,
    /// `null` where the kubelet's state is unknown.
    pub ready: Option<bool>,
    /// Whether the scheduler may place pods (not cordoned).
    pub schedulable: bool,
    /// Roles.
    pub roles: Vec<String>,
    /// Kubelet version.
    pub version: Option<String>,
    /// Instance type.
    pub instance_type: Option<String>,
    /// Region.
    pub region: Option<String>,
    /// Zone.
    pub zone: Option<String>,
    /// Internal address.
    pub internal_ip: Option<String>,
    /// Allocatable CPU in thousandths of a core.
    #[ts(type = "number | null")]
    pub cpu_milli: Option<i64>,
    /// Allocatable memory in MiB.
    #[ts(type = "number | null")]
    pub memory_mib: Option<i64>,
    /// When it joined.
    pub created: Option<String>,
    /// Conditions that are not as they should be, in words.
    pub problems: Vec<String>,
    /// Accelerators.
    pub pools: Vec<PoolView>,
    /// Who holds them.
    pub holders: Vec<HolderView>,
}

/// The cluster screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ClusterView {
    /// The row of the fleet screen.
    pub cluster: ClusterRow,
    /// The nodes by name; `null` where this registration may not read them or they are not read yet.
    pub nodes: Option<Vec<NodeView>>,
}
