//! The inventory of one cluster.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::dra::{self, DraPools, SharedPool};
use super::input::{Hold, Node, Pod};
use super::listing::{Access, Accesses, ClusterInput};
use super::names;
use super::node::{NodeInventory, node_inventory};
use super::pending::{self, Waiting};
use super::pool::Pool;
use super::totals::{self, Breakdown, Sum, Totals};
use super::warnings::{self, Severity, Warning};

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
    let dra = dra_pools(input);
    let mut by_node: FxHashMap<&str, Vec<&Pod>> = FxHashMap::default();
    for pod in input.pods.items().unwrap_or_default() {
        if let Some(node) = &pod.node {
            by_node.entry(node).or_default().push(pod);
        }
    }
    let is_known = input.pods.items().is_some();
    let bound = |node: &Node| is_known.then(|| by_node.get(&*node.name).into_iter().flatten().copied());
    let nodes = input.nodes.items().unwrap_or_default().iter();
    let mut nodes: Vec<NodeInventory> =
        nodes.map(|node| node_inventory(node, bound(node), dra.on_node(&node.name))).collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    ClusterInventory::around(nodes, input, &dra)
}

/// The DRA pools of a cluster.
pub(super) fn dra_pools(input: &ClusterInput<'_>) -> DraPools {
    dra::pools(
        input.resource_slices.items().unwrap_or_default(),
        input.resource_claims.items(),
        input.device_taint_rules.items().unwrap_or_default(),
        input.pods.items(),
    )
}

impl ClusterInventory {
    /// Everything around the nodes, which are ordered by name: shared pools, demand, warnings, and the totals.
    pub(super) fn around(nodes: Vec<NodeInventory>, input: &ClusterInput<'_>, dra: &DraPools) -> Self {
        let pods = input.pods.items();
        let mut notes = dra.notes.clone();
        let waiting = pods.map(|pods| {
            note_malformed(pods, &mut notes);
            pending::waiting(pods, input.resource_claims.items(), input.device_classes.items(), &mut notes)
        });
        if input.nodes.items().is_some() {
            note_orphans(&nodes, pods.unwrap_or_default(), dra, &mut notes);
        }
        let access = Accesses::of(input);
        notes.extend(unread("nodes", access.nodes, "neither cards nor units are known"));
        notes.extend(unread("pods", access.pods, "what is held and what is free are unknown"));
        notes.extend(nodes.iter().flat_map(|node| node.warnings.iter().cloned()));
        warnings::settle(&mut notes);

        let mut shared_pools = dra.shared.clone();
        for pool in &mut shared_pools {
            pool.devices.judge(&[]);
        }
        let mut inventory = Self {
            nodes,
            shared_pools,
            waiting,
            totals: Totals::default(),
            nvidia_gpu: None,
            amd_gpu: None,
            access,
            warnings: notes,
        };
        inventory.add_up();
        inventory
    }

    fn add_up(&mut self) {
        let is_read = self.access.nodes == Access::Ok;
        let count = |count: usize| i64::try_from(count).ok().filter(|_| is_read);
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
            sum.add(count(0));
            for pool in self.pools().filter(|pool| pool.resource == resource) {
                sum.add(pool.units.allocatable);
            }
            sum.value()
        };
        (self.nvidia_gpu, self.amd_gpu) = (legacy("nvidia.com/gpu"), legacy("amd.com/gpu"));
    }
}

/// Pods and slices of nodes that are not there: what they hold is counted nowhere.
fn note_orphans(nodes: &[NodeInventory], pods: &[Pod], dra: &DraPools, notes: &mut Vec<Warning>) {
    let known: FxHashSet<&str> = nodes.iter().map(|node| &*node.name).collect();
    for pod in pods.iter().filter(|pod| pod.hold() == Hold::Held) {
        let Some(node) = pod.node.as_ref().filter(|node| !known.contains(&***node)) else {
            continue;
        };
        let asked = pod
            .requests
            .iter()
            .filter(|(name, count)| names::device(name).is_some() && count.units != Some(0));
        for (resource, _) in asked {
            let text = "Pods are bound to a node that is not there; what they ask for is not counted.";
            notes.push(Warning::of_node(node, "orphan-pod", Severity::Warning, text).about(resource));
        }
    }
    for node in dra.by_node.keys().filter(|node| !known.contains(&***node)) {
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

fn unread(list: &str, access: Access, consequence: &str) -> Option<Warning> {
    let reason = match access {
        Access::Ok => return None,
        Access::Forbidden => "forbidden",
        Access::Absent => "absent",
        Access::Error => "error",
    };
    let text = format!("The {list} of the cluster cannot be listed ({reason}), so {consequence}.");
    Some(Warning::of_cluster(format!("{list}-{reason}"), Severity::Error, text))
}
