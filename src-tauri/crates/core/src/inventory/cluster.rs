//! The inventory of one cluster.

use std::collections::{BTreeMap, HashSet};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::dra::{self, SharedPool};
use super::input::{DeviceClass, DeviceTaintRule, Hold, Node, Pod, ResourceClaim, ResourceSlice};
use super::name::Name;
use super::names;
use super::node::{NodeInventory, node_inventory};
use super::pending::{self, Waiting};
use super::pool::Pool;
use super::totals::{self, Breakdown, Sum, Totals};
use super::warnings::{self, Severity, Warning};

/// A list of the API, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub enum Listing<'a, T> {
    /// Read; it may be empty.
    Read(&'a [T]),
    /// Not read.
    Unread(Unread),
}

/// Why a list was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unread {
    /// The credential may not.
    Forbidden,
    /// The API is not served.
    Absent,
    /// The read failed.
    Error,
}

impl<T> Clone for Listing<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

// Derived, this would ask for `T: Copy`.
impl<T> Copy for Listing<'_, T> {}

impl<'a, T> Listing<'a, T> {
    /// The items, where the list was read.
    pub fn items(self) -> Option<&'a [T]> {
        match self {
            Self::Read(items) => Some(items),
            Self::Unread(_) => None,
        }
    }

    fn access(self) -> Access {
        match self {
            Self::Read(_) => Access::Ok,
            Self::Unread(Unread::Forbidden) => Access::Forbidden,
            Self::Unread(Unread::Absent) => Access::Absent,
            Self::Unread(Unread::Error) => Access::Error,
        }
    }
}

impl<'a, T> From<Option<&'a [T]>> for Listing<'a, T> {
    /// A list that is not there is taken as forbidden.
    fn from(items: Option<&'a [T]>) -> Self {
        items.map_or(Self::Unread(Unread::Forbidden), Self::Read)
    }
}

/// What the inventory of a cluster is computed from.
#[derive(Clone, Copy, Debug)]
pub struct ClusterInput<'a> {
    /// Nodes.
    pub nodes: Listing<'a, Node>,
    /// Pods of all namespaces.
    pub pods: Listing<'a, Pod>,
    /// ResourceSlices.
    pub resource_slices: Listing<'a, ResourceSlice>,
    /// ResourceClaims of all namespaces.
    pub resource_claims: Listing<'a, ResourceClaim>,
    /// DeviceClasses.
    pub device_classes: Listing<'a, DeviceClass>,
    /// DeviceTaintRules.
    pub device_taint_rules: Listing<'a, DeviceTaintRule>,
}

/// How a list was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read.
    Ok,
    /// The credential may not.
    Forbidden,
    /// The API is not served.
    Absent,
    /// The read failed.
    Error,
}

/// How the lists were read: a number that depends on an unread one is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accesses {
    /// Nodes.
    pub nodes: Access,
    /// Pods.
    pub pods: Access,
    /// ResourceSlices.
    pub resource_slices: Access,
    /// ResourceClaims.
    pub resource_claims: Access,
    /// DeviceClasses.
    pub device_classes: Access,
    /// DeviceTaintRules.
    pub device_taint_rules: Access,
}

/// The inventory of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterInventory {
    /// Nodes by name, those without accelerators included.
    pub nodes: Vec<NodeInventory>,
    /// Devices that belong to no single node.
    pub shared_pools: Vec<SharedPool>,
    /// Pods that wait for accelerators; `None` when pods cannot be listed.
    pub waiting: Option<Vec<Waiting>>,
    /// Totals.
    pub totals: Totals,
    /// Allocatable `nvidia.com/gpu` of all nodes: the field of the registry's index.
    pub nvidia_gpu: Option<i64>,
    /// Allocatable `amd.com/gpu` of all nodes: the field of the registry's index.
    pub amd_gpu: Option<i64>,
    /// How the lists were read.
    pub access: Accesses,
    /// Warnings by code, node and resource.
    pub warnings: Vec<Warning>,
}

impl ClusterInventory {
    /// All pools: those on nodes, then the shared ones.
    pub fn pools(&self) -> impl Iterator<Item = &Pool> {
        let on_nodes = self.nodes.iter().flat_map(|node| &node.accelerators);
        on_nodes.chain(self.shared_pools.iter().map(|pool| &pool.devices))
    }

    /// Tallies by model, vendor, resource, region and zone.
    pub fn breakdown(&self) -> Breakdown {
        totals::breakdown(self.nodes.iter(), self.shared_pools.iter().map(|pool| &pool.devices))
    }
}

/// Computes the inventory of one cluster. Pure: it reads no clock and no network, and the order of the input is
/// irrelevant.
pub fn inventory(input: &ClusterInput<'_>) -> ClusterInventory {
    let pods = input.pods.items();
    let mut dra = dra::pools(
        input.resource_slices.items().unwrap_or_default(),
        input.resource_claims.items(),
        input.device_taint_rules.items().unwrap_or_default(),
        pods,
    );
    let mut notes = std::mem::take(&mut dra.notes);
    let by_node = pods.map(pods_by_node);
    let mut nodes: Vec<NodeInventory> = input
        .nodes
        .items()
        .unwrap_or_default()
        .iter()
        .map(|node| {
            let bound = by_node
                .as_ref()
                .map(|pods| pods.get(&*node.name).map_or(&[][..], Vec::as_slice).iter().copied());
            node_inventory(node, bound, dra.by_node.remove(&*node.name).unwrap_or_default())
        })
        .collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));

    if input.nodes.items().is_some() {
        note_orphans(&nodes, by_node.as_ref(), dra.by_node.keys(), &mut notes);
    } else {
        notes.push(unread("nodes-unread", "Nodes cannot be listed, so neither cards nor units are known."));
    }
    let waiting = match pods {
        Some(pods) => {
            note_malformed(pods, &mut notes);
            let (claims, classes) = (input.resource_claims.items(), input.device_classes.items());
            Some(pending::waiting(pods, claims, classes, &mut notes))
        }
        None => {
            notes.push(unread(
                "pods-forbidden",
                "Pods cannot be listed, so what is held and what is free are unknown.",
            ));
            None
        }
    };
    for pool in &mut dra.shared {
        pool.devices.judge(&[]);
    }
    notes.extend(nodes.iter().flat_map(|node| node.warnings.iter().cloned()));
    warnings::settle(&mut notes);

    let mut inventory = ClusterInventory {
        nodes,
        shared_pools: dra.shared,
        waiting,
        totals: Totals::default(),
        nvidia_gpu: None,
        amd_gpu: None,
        access: Accesses::of(input),
        warnings: notes,
    };
    inventory.add_up(input.nodes.items());
    inventory
}

impl ClusterInventory {
    fn add_up(&mut self, nodes: Option<&[Node]>) {
        let count = |count: usize| i64::try_from(count).ok().filter(|_| nodes.is_some());
        let with_pools = self.nodes.iter().filter(|node| !node.accelerators.is_empty()).count();
        self.totals = Totals {
            nodes: count(self.nodes.len()),
            accelerator_nodes: count(with_pools),
            by_resource: totals::by_resource(self.pools()),
            physical_by_vendor: totals::physical_by_vendor(self.pools()),
            pending: self.waiting.as_deref().map(pending::totals),
        };
        let legacy = |resource: &str| {
            let mut sum = Sum::default();
            sum.add(nodes.map(|_| 0));
            for pool in self.pools().filter(|pool| pool.resource == resource) {
                sum.add(pool.units.allocatable);
            }
            sum.value()
        };
        (self.nvidia_gpu, self.amd_gpu) = (legacy("nvidia.com/gpu"), legacy("amd.com/gpu"));
    }
}

impl Accesses {
    fn of(input: &ClusterInput<'_>) -> Self {
        Self {
            nodes: input.nodes.access(),
            pods: input.pods.access(),
            resource_slices: input.resource_slices.access(),
            resource_claims: input.resource_claims.access(),
            device_classes: input.device_classes.access(),
            device_taint_rules: input.device_taint_rules.access(),
        }
    }
}

type PodsByNode<'p> = FxHashMap<&'p str, Vec<&'p Pod>>;

/// Bound pods by node.
fn pods_by_node(pods: &[Pod]) -> PodsByNode<'_> {
    let mut by_node: PodsByNode<'_> = FxHashMap::default();
    for pod in pods {
        if let Some(node) = &pod.node {
            by_node.entry(node).or_default().push(pod);
        }
    }
    by_node
}

/// Pods and slices of nodes that are not there: what they hold is counted nowhere.
fn note_orphans<'d>(
    nodes: &[NodeInventory],
    pods: Option<&PodsByNode<'_>>,
    unclaimed_slices: impl Iterator<Item = &'d Name>,
    notes: &mut Vec<Warning>,
) {
    let known: HashSet<&str> = nodes.iter().map(|node| &*node.name).collect();
    let lost = pods.into_iter().flatten().filter(|(node, _)| !known.contains(**node));
    for (node, pods) in lost {
        let mut held: BTreeMap<&Name, usize> = BTreeMap::new();
        for pod in pods.iter().filter(|pod| pod.hold() == Hold::Held) {
            for (resource, count) in pod.requests.iter() {
                if names::device(resource).is_some() && count.units != Some(0) {
                    *held.entry(resource).or_default() += 1;
                }
            }
        }
        for (resource, pods) in held {
            let text = format!(
                "{pods} pods are bound to a node that is not there; what they ask for is not counted."
            );
            notes.push(
                Warning::of_node(&(*node).into(), "orphan-pod", Severity::Warning, text).about(resource),
            );
        }
    }
    for node in unclaimed_slices {
        let text = "Resource slices name a node that is not there; their devices are not counted.";
        notes.push(Warning::of_node(node, "orphan-slice", Severity::Warning, text));
    }
}

fn note_malformed(pods: &[Pod], notes: &mut Vec<Warning>) {
    for pod in pods.iter().filter(|pod| !pod.faults.fields().is_empty()) {
        let text = format!(
            "Pod {}/{}: fields that cannot be read: {}.",
            pod.namespace,
            pod.name,
            pod.faults.fields().join(", ")
        );
        let warning = Warning::of_cluster("pod-malformed", Severity::Warning, text);
        notes.push(Warning { node: pod.node.clone(), ..warning });
    }
}

fn unread(code: &'static str, text: &str) -> Warning {
    Warning::of_cluster(code, Severity::Error, text)
}
