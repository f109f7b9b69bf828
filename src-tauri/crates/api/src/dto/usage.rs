//! Live use of accelerators: the sources of a cluster, and what one of them measured.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::AppError;

/// A service that measures accelerators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UseSourceRow {
    /// `namespace/service:port`; what [`LiveUseRequest::source`] takes.
    pub id: String,
    /// `prometheus`, `dcgm-exporter` or `amd-exporter`.
    pub kind: String,
}

/// The sources of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UseSources {
    /// The cluster.
    pub cluster: String,
    /// Prometheus first. Empty: the cluster has none that Muster knows.
    pub sources: Vec<UseSourceRow>,
}

/// Asks for the live use of one cluster.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LiveUseRequest {
    /// The cluster.
    pub cluster: String,
    /// One of the sources that `live_use_sources` named.
    pub source: String,
}

/// A pod on a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UseHolderView {
    /// Namespace; empty where the source does not say.
    pub namespace: String,
    /// Pod.
    pub pod: String,
}

/// One card or MIG instance as it was measured. `null` is what was not measured.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CardUseRow {
    /// Node.
    pub node: Option<String>,
    /// UUID, serial number or index.
    pub id: String,
    /// Index on the node.
    pub index: Option<String>,
    /// Model as the exporter writes it.
    pub model: Option<String>,
    /// MIG profile or partition.
    pub instance: Option<String>,
    /// Pods on it, at most sixteen.
    pub holders: Vec<UseHolderView>,
    /// Whether a pod holds it.
    pub held: Option<bool>,
    /// Held, and doing nothing.
    pub idle: Option<bool>,
    /// Share of time in use, percent.
    pub busy: Option<f64>,
    /// The highest share over the source's memory, percent.
    pub peak: Option<f64>,
    /// Memory in use.
    pub memory_used_mib: Option<f64>,
    /// All of the memory.
    pub memory_total_mib: Option<f64>,
    /// Power drawn.
    pub power_watts: Option<f64>,
    /// Temperature.
    pub temperature_celsius: Option<f64>,
    /// Code of the last XID error; 0 is none.
    pub xid: Option<u32>,
    /// The exporter's own verdict.
    pub healthy: Option<bool>,
}

/// A node whose exporter was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnreadNode {
    /// Node, or the exporter's pod where it is on none.
    pub node: String,
    /// Why.
    pub error: AppError,
}

/// Sums over the cards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveUseTotals {
    /// Cards and instances with a row.
    pub cards: u32,
    /// Of them, with a load that was measured.
    pub measured: u32,
    /// Mean of the measured loads, percent; `null` where none was.
    pub mean_busy: Option<f64>,
    /// Held by a pod.
    pub held: u32,
    /// Held and idle.
    pub idle: u32,
    /// Whether they are idle cannot be known.
    pub idle_unknown: u32,
    /// Cards whose last XID is an error, or that the exporter calls unhealthy.
    pub faulty: u32,
    /// Power drawn by the cards that say; `null` where none does.
    pub power_watts: Option<f64>,
}

/// Live use of one cluster.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveUse {
    /// The cluster.
    pub cluster: String,
    /// The source.
    pub source: UseSourceRow,
    /// When the reading began.
    pub observed_at: String,
    /// Minutes that peaks look back; `null` where the source knows this moment only.
    pub peak_minutes: Option<u32>,
    /// Nodes whose exporter was read; `null` where one answer covers all nodes.
    pub nodes_read: Option<u32>,
    /// Nodes that have an exporter.
    pub nodes_total: Option<u32>,
    /// Nodes that were not read.
    pub unread: Vec<UnreadNode>,
    /// Sums.
    pub totals: LiveUseTotals,
    /// The cards, by node and card.
    pub cards: Vec<CardUseRow>,
}
