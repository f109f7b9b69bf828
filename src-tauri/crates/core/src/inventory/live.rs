//! The inventory of a cluster that changes.
//!
//! A watch tells of one pod or node at a time. What changes with it is the inventory of one node (two, when a pod moves),
//! the demand, and the sums; the other nodes are kept as they are. Claims tie nodes together, so a change to a pod that a
//! claim is reserved for computes everything anew. For a change to slices, claims, classes or taint rules, take the rows
//! and begin again.
//!
//! Invariant: after every change the inventory equals [`inventory()`] of the rows.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cluster::{ClusterInventory, dra_pools, inventory};
use super::dra::DraPools;
use super::input::{Node, Pod};
use super::listing::ClusterRows;
use super::name::Name;
use super::node::{NodeInventory, node_inventory};

/// The rows of a cluster with their inventory.
#[derive(Debug)]
pub struct LiveInventory {
    rows: ClusterRows,
    node_at: FxHashMap<Name, usize>,
    pod_at: FxHashMap<(Name, Name), usize>,
    /// Places of bound pods, by node.
    bound: FxHashMap<Name, Vec<usize>>,
    /// Pods that claims are reserved for.
    claim_users: FxHashSet<(Name, Name)>,
    dra: DraPools,
    inventory: ClusterInventory,
}

/// A change that a watch reports.
#[derive(Clone, Debug)]
pub enum Change {
    /// A pod was added or modified.
    Pod(Box<Pod>),
    /// A pod is gone.
    PodGone {
        /// Its namespace.
        namespace: Name,
        /// Its name.
        name: Name,
    },
    /// A node was added or modified.
    Node(Box<Node>),
    /// A node is gone.
    NodeGone(Name),
}

/// What a change touched, beside totals, demand and warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// Only these nodes.
    Nodes(BTreeSet<Name>),
    /// Possibly every node.
    Everything,
}

impl LiveInventory {
    /// Computes the inventory of the rows.
    pub fn new(rows: ClusterRows) -> Self {
        let input = rows.input();
        let (dra, inventory) = (dra_pools(&input), inventory(&input));
        let mut live = Self {
            node_at: FxHashMap::default(),
            pod_at: FxHashMap::default(),
            bound: FxHashMap::default(),
            claim_users: FxHashSet::default(),
            dra,
            inventory,
            rows,
        };
        live.index();
        live
    }

    /// The inventory as of the last change.
    pub fn inventory(&self) -> &ClusterInventory {
        &self.inventory
    }

    /// The rows as of the last change.
    pub fn rows(&self) -> &ClusterRows {
        &self.rows
    }

    /// The rows, to change more than a watch of pods and nodes does.
    pub fn into_rows(self) -> ClusterRows {
        self.rows
    }

    /// Takes over a change. Changes to a list that was not read are left aside: what is unknown stays unknown.
    pub fn apply(&mut self, change: Change) -> Touched {
        let mut touched = BTreeSet::new();
        let mut uses_claims = false;
        match change {
            Change::Pod(pod) => {
                let key = (pod.namespace.clone(), pod.name.clone());
                uses_claims = self.claim_users.contains(&key);
                touched.extend(self.take_pod(&key).and_then(|old| old.node));
                touched.extend(pod.node.clone());
                self.put_pod(*pod);
            }
            Change::PodGone { namespace, name } => {
                let key = (namespace, name);
                uses_claims = self.claim_users.contains(&key);
                touched.extend(self.take_pod(&key).and_then(|old| old.node));
            }
            Change::Node(node) => {
                touched.insert(node.name.clone());
                self.put_node(*node);
            }
            Change::NodeGone(name) => {
                self.take_node(&name);
                touched.insert(name);
            }
        }
        if uses_claims {
            self.dra = dra_pools(&self.rows.input());
            self.inventory = inventory(&self.rows.input());
            return Touched::Everything;
        }
        self.recompute(&touched);
        Touched::Nodes(touched)
    }

    fn recompute(&mut self, touched: &BTreeSet<Name>) {
        let mut nodes = std::mem::take(&mut self.inventory.nodes);
        for name in touched {
            let place = nodes.binary_search_by(|known| known.name.cmp(name));
            match (place, self.node_inventory(name)) {
                (Ok(at), Some(node)) => nodes[at] = node,
                (Ok(at), None) => drop(nodes.remove(at)),
                (Err(at), Some(node)) => nodes.insert(at, node),
                (Err(_), None) => {}
            }
        }
        self.inventory = ClusterInventory::around(nodes, &self.rows.input(), &self.dra);
    }

    fn node_inventory(&self, name: &Name) -> Option<NodeInventory> {
        let node = self.rows.nodes.as_ref().ok()?.get(*self.node_at.get(name)?)?;
        let pods = self.rows.pods.as_ref().ok();
        let bound =
            pods.map(|pods| self.bound.get(name).into_iter().flatten().filter_map(|at| pods.get(*at)));
        Some(node_inventory(node, bound, self.dra.on_node(name)))
    }

    fn index(&mut self) {
        for (at, node) in self.rows.nodes.iter().flatten().enumerate() {
            self.node_at.insert(node.name.clone(), at);
        }
        for claim in self.rows.resource_claims.iter().flatten() {
            let users = claim.reserved_for.iter().map(|pod| (claim.namespace.clone(), pod.clone()));
            self.claim_users.extend(users);
        }
        for (at, pod) in self.rows.pods.iter().flatten().enumerate() {
            self.pod_at.insert((pod.namespace.clone(), pod.name.clone()), at);
            if let Some(node) = &pod.node {
                self.bound.entry(node.clone()).or_default().push(at);
            }
        }
    }

    fn put_node(&mut self, node: Node) {
        let Ok(nodes) = &mut self.rows.nodes else { return };
        match self.node_at.get(&node.name) {
            Some(at) => nodes[*at] = node,
            None => {
                self.node_at.insert(node.name.clone(), nodes.len());
                nodes.push(node);
            }
        }
    }

    fn take_node(&mut self, name: &Name) {
        let Ok(nodes) = &mut self.rows.nodes else { return };
        if let Some(at) = self.node_at.remove(name) {
            nodes.swap_remove(at);
            if let Some(moved) = nodes.get(at) {
                self.node_at.insert(moved.name.clone(), at);
            }
        }
    }

    fn put_pod(&mut self, pod: Pod) {
        let Ok(pods) = &mut self.rows.pods else { return };
        self.pod_at.insert((pod.namespace.clone(), pod.name.clone()), pods.len());
        if let Some(node) = &pod.node {
            self.bound.entry(node.clone()).or_default().push(pods.len());
        }
        pods.push(pod);
    }

    /// Removes a pod. The last pod of the list takes its place.
    fn take_pod(&mut self, key: &(Name, Name)) -> Option<Pod> {
        let Ok(pods) = &mut self.rows.pods else { return None };
        let at = self.pod_at.remove(key)?;
        let pod = pods.swap_remove(at);
        if let Some(places) = pod.node.as_ref().and_then(|node| self.bound.get_mut(node)) {
            places.retain(|place| *place != at);
        }
        if let Some(moved) = pods.get(at) {
            let from = pods.len();
            self.pod_at.insert((moved.namespace.clone(), moved.name.clone()), at);
            let places = moved.node.as_ref().and_then(|node| self.bound.get_mut(node));
            if let Some(place) = places.into_iter().flatten().find(|place| **place == from) {
                *place = at;
            }
        }
        Some(pod)
    }
}
