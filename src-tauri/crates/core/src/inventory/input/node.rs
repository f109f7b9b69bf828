//! One node, as the inventory needs it.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::lenient::{Faults, Keep, Lenient, Table, objects};
use super::table::{ExtendedNames, Labels, Resources};
use crate::inventory::name::Name;
use crate::inventory::quantity::Count;

/// A node of the core/v1 API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// `metadata.name`; empty when the item has none.
    pub name: Name,
    /// `metadata.uid`.
    pub uid: Option<Box<str>>,
    /// Labels, without the bulk that feature discovery writes about CPUs and kernels.
    pub labels: Labels,
    /// The annotations that describe accelerators.
    pub annotations: Labels,
    /// `spec.unschedulable`: the node is cordoned.
    pub unschedulable: bool,
    /// `spec.providerID`.
    pub provider_id: Option<Box<str>>,
    /// `spec.taints`.
    pub taints: Box<[Taint]>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
    /// Extended resources of `status.capacity`; `None` when there is no such map.
    pub capacity: Option<Resources>,
    /// Extended resources of `status.allocatable`; `None` when there is no such map (it then equals capacity).
    pub allocatable: Option<Resources>,
    /// Fields that could not be read.
    pub faults: Faults,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Key of the taint.
    pub key: Box<str>,
    /// Value, where one is set.
    pub value: Option<Box<str>>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: Box<str>,
}

/// A condition of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Type, such as `Ready`.
    pub kind: Box<str>,
    /// `True`, `False` or `Unknown`.
    pub status: Box<str>,
    /// One-word reason.
    pub reason: Option<Box<str>>,
    /// Sentence for people.
    pub message: Option<Box<str>>,
    /// When the status last changed.
    pub since: Option<Timestamp>,
}

/// Leaves out labels that no rule reads and no workload selects accelerators by: they are most of a node's labels.
struct NodeLabels;

impl Keep for NodeLabels {
    fn keep(key: &str) -> bool {
        match key.split_once('/') {
            Some(("feature.node.kubernetes.io", name)) => name.starts_with("pci-"),
            Some(("nvidia.com", name)) => !name.starts_with("gpu.deploy."),
            Some(("amd.com" | "beta.amd.com", name)) => !name.starts_with("gpu.firmware."),
            _ => true,
        }
    }
}

struct NodeAnnotations;

impl Keep for NodeAnnotations {
    fn keep(key: &str) -> bool {
        key.contains("-register") || key.starts_with("quarantineHealthEvent")
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireNode {
    metadata: Lenient<WireMeta>,
    spec: Lenient<WireSpec>,
    status: Lenient<WireStatus>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireMeta {
    name: Lenient<Name>,
    uid: Lenient<Box<str>>,
    labels: Lenient<Table<NodeLabels, Box<str>>>,
    annotations: Lenient<Table<NodeAnnotations, Box<str>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireSpec {
    unschedulable: Lenient<bool>,
    #[serde(rename = "providerID")]
    provider_id: Lenient<Box<str>>,
    taints: Lenient<Vec<WireTaint>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireTaint {
    key: Lenient<Box<str>>,
    value: Lenient<Box<str>>,
    effect: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireStatus {
    capacity: Lenient<Table<ExtendedNames, Count>>,
    allocatable: Lenient<Table<ExtendedNames, Count>>,
    conditions: Lenient<Vec<WireCondition>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireCondition {
    r#type: Lenient<Box<str>>,
    status: Lenient<Box<str>>,
    reason: Lenient<Box<str>>,
    message: Lenient<Box<str>>,
    last_transition_time: Lenient<Box<str>>,
}

objects!(WireNode, WireMeta, WireSpec, WireTaint, WireStatus, WireCondition);

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Lenient::<WireNode>::deserialize(deserializer).map(Self::from_wire)
    }
}

impl Node {
    fn from_wire(wire: Lenient<WireNode>) -> Self {
        let mut faults = Faults::default();
        let wire = wire.take_object("item", &mut faults);
        let meta = wire.metadata.take("metadata", &mut faults).unwrap_or_default();
        let spec = wire.spec.take("spec", &mut faults).unwrap_or_default();
        let status = wire.status.take("status", &mut faults).unwrap_or_default();
        let taints = spec.taints.take("spec.taints", &mut faults).unwrap_or_default();
        let conditions = status.conditions.take("status.conditions", &mut faults).unwrap_or_default();
        Self {
            name: meta.name.take("metadata.name", &mut faults).unwrap_or_default(),
            uid: meta.uid.read(),
            labels: meta
                .labels
                .take("metadata.labels", &mut faults)
                .map(Labels::from_table)
                .unwrap_or_default(),
            annotations: meta
                .annotations
                .take("metadata.annotations", &mut faults)
                .map(Labels::from_table)
                .unwrap_or_default(),
            unschedulable: spec.unschedulable.take("spec.unschedulable", &mut faults).unwrap_or_default(),
            provider_id: spec.provider_id.take("spec.providerID", &mut faults),
            taints: taints.into_iter().filter_map(WireTaint::into_taint).collect(),
            conditions: conditions.into_iter().filter_map(WireCondition::into_condition).collect(),
            capacity: status.capacity.take("status.capacity", &mut faults).map(Resources::from_table),
            allocatable: status
                .allocatable
                .take("status.allocatable", &mut faults)
                .map(Resources::from_table),
            faults,
        }
    }
}

impl WireTaint {
    fn into_taint(self) -> Option<Taint> {
        Some(Taint {
            key: self.key.read()?,
            value: self.value.read(),
            effect: self.effect.read().unwrap_or_default(),
        })
    }
}

impl WireCondition {
    fn into_condition(self) -> Option<Condition> {
        Some(Condition {
            kind: self.r#type.read()?,
            status: self.status.read().unwrap_or_else(|| "Unknown".into()),
            reason: self.reason.read(),
            message: self.message.read(),
            since: self.last_transition_time.read().and_then(|time| time.parse().ok()),
        })
    }
}
