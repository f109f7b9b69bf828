//! The fleet screen: every registered cluster with the state of its last reading.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::AppError;

/// What a registration may address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ScopeView {
    /// The whole cluster.
    WholeCluster,
    /// These namespaces only.
    Namespaces {
        /// The bound, in the order it was registered.
        names: Vec<String>,
    },
}

/// How much a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingState {
    /// Not asked yet.
    Idle,
    /// Being read for the first time.
    Loading,
    /// Complete, as of `observedAt`.
    Fresh,
    /// The last refresh failed; what is shown is from `observedAt`.
    Stale,
    /// Some part could not be read (`notes` say which).
    Partial,
    /// The credential may not read it.
    Forbidden,
    /// The cluster did not answer, and there is nothing from before.
    Unreachable,
    /// It answered in a way that cannot be used.
    Failed,
}

/// Sums over accelerators. Every number is `null` where it cannot be known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnitCounts {
    /// Physical cards.
    #[ts(type = "number | null")]
    pub cards: Option<i64>,
    /// Schedulable units that the nodes report as healthy.
    #[ts(type = "number | null")]
    pub allocatable: Option<i64>,
    /// Units that pods hold.
    #[ts(type = "number | null")]
    pub requested: Option<i64>,
    /// Units that nobody holds.
    #[ts(type = "number | null")]
    pub free: Option<i64>,
    /// Free units on nodes that can take a pod now.
    #[ts(type = "number | null")]
    pub usable_free: Option<i64>,
}

/// One accelerator model or resource in a sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelCount {
    /// Short name for people (`H100`), or the raw label where no catalogue entry is known.
    pub model: String,
    /// Vendor (`nvidia`, `amd`, ...).
    pub vendor: String,
    /// Kind (`gpu`, `mig`, `gpu-shared`, ...).
    pub kind: String,
    /// The extended resource or DRA driver.
    pub resource: String,
    /// Memory of one unit in MiB.
    #[ts(type = "number | null")]
    pub memory_mib: Option<i64>,
    /// The sums.
    pub units: UnitCounts,
}

/// Something that the person should know about a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Stable code.
    pub code: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// The node, pod or part it is about.
    pub subject: Option<String>,
    /// In words.
    pub text: String,
}

/// One registered cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRow {
    /// The registration's name.
    pub name: String,
    /// Provider (`eks`, `byo`, ...).
    pub provider: String,
    /// API server as `host:port`.
    pub endpoint: String,
    /// What the registration may address.
    pub scope: ScopeView,
    /// Whether it is the org's default.
    pub default: bool,
    /// When it was registered.
    pub registered_at: String,
    /// State of the last reading.
    pub state: ReadingState,
    /// When the numbers were read.
    pub observed_at: Option<String>,
    /// Whether a refresh is under way.
    pub refreshing: bool,
    /// Why the last reading failed.
    pub error: Option<AppError>,
    /// Kubernetes version.
    pub version: Option<String>,
    /// Nodes.
    #[ts(type = "number | null")]
    pub nodes: Option<u32>,
    /// Nodes that are ready.
    #[ts(type = "number | null")]
    pub nodes_ready: Option<u32>,
    /// Pods that run or wait.
    #[ts(type = "number | null")]
    pub pods: Option<u32>,
    /// Sum over every accelerator.
    pub units: UnitCounts,
    /// By model, largest first.
    pub models: Vec<ModelCount>,
    /// Units that waiting pods ask for.
    #[ts(type = "number | null")]
    pub pending_units: Option<i64>,
    /// What the person should know.
    pub notes: Vec<Note>,
}

/// Sums over the fleet, and what they leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FleetTotals {
    /// Registered clusters.
    pub clusters: u32,
    /// Nodes of the clusters that are known.
    #[ts(type = "number | null")]
    pub nodes: Option<u32>,
    /// Sum over the clusters that are known.
    pub units: UnitCounts,
    /// By model over the clusters that are known.
    pub models: Vec<ModelCount>,
    /// Clusters whose accelerators are not in the sums (bounded, forbidden, unreachable, still loading).
    pub unknown: Vec<UnknownCluster>,
}

/// A cluster that a sum leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnknownCluster {
    /// Its name.
    pub name: String,
    /// Why.
    pub state: ReadingState,
}

/// The fleet screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FleetView {
    /// The org.
    pub org: String,
    /// When the index was last read.
    pub index_observed_at: String,
    /// Why the last read of the index failed, while older rows are shown.
    pub index_error: Option<AppError>,
    /// The clusters, by name.
    pub clusters: Vec<ClusterRow>,
    /// Sums.
    pub totals: FleetTotals,
    /// Credentials that are deregistered but not yet destroyed in the KMS.
    pub pending_purges: Vec<String>,
    /// Why this person may not register, if so.
    pub read_only: Option<String>,
}

/// Names a cluster.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterRequest {
    /// The registration's name.
    pub cluster: String,
}

/// Reads again.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefreshRequest {
    /// One cluster, or all of them.
    pub cluster: Option<String>,
}

/// Takes a cluster out of the registry.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeregisterRequest {
    /// The registration's name.
    pub cluster: String,
    /// The same name, typed by the person.
    pub typed_name: String,
}

/// What deregistering did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Deregistered {
    /// Whether the name was registered.
    pub was_registered: bool,
    /// Whether the sealed credential is destroyed; if not, it is listed as a pending purge.
    pub purged: bool,
}
