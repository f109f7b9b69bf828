//! The fleet: the inventories of several clusters, each counted once.
//!
//! Two registrations may reach one cluster under different names and addresses (kubestellar#109, skypilot#10749). The UID
//! of the namespace kube-system tells: the first registration with a reading counts, the others are named and left out.
//! Node names are unique within a cluster only, so rows of the fleet are keyed by cluster and node.
//!
//! A cluster without a reading is in the fleet as unknown, never as zero, and the totals say how many there are.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Serialize;

use super::cluster::ClusterInventory;
use super::name::Name;
use super::node::NodeInventory;
use super::pool::Units;
use super::totals::{self, Breakdown, Sum, Tally, TallySums, UnitSums};

/// One registered cluster.
#[derive(Clone, Copy, Debug)]
pub struct FleetMember<'a> {
    /// Name of the registration, unique in the fleet.
    pub name: &'a str,
    /// UID of the namespace kube-system, where it is known.
    pub uid: Option<&'a str>,
    /// The last reading.
    pub reading: Reading<'a>,
}

/// The last reading of a cluster.
#[derive(Clone, Copy, Debug)]
pub enum Reading<'a> {
    /// An inventory, and when it was read.
    Read {
        /// The inventory.
        inventory: &'a ClusterInventory,
        /// When its lists were read.
        observed_at: Option<Timestamp>,
    },
    /// The credential is refused.
    Forbidden,
    /// The cluster does not answer.
    Unreachable,
    /// It was not read yet.
    NeverRead,
}

/// The fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetInventory<'a> {
    /// Inventories by registration, without the duplicates.
    pub clusters: BTreeMap<&'a str, &'a ClusterInventory>,
    /// State of every registration.
    pub states: BTreeMap<&'a str, ClusterState<'a>>,
    /// Totals over the clusters with a reading.
    pub totals: FleetTotals,
    /// Tallies by model, vendor, resource, region and zone.
    pub breakdown: Breakdown,
    /// Tallies by cluster.
    pub by_cluster: BTreeMap<&'a str, Tally>,
    /// Warnings about the fleet; those of a cluster are in its inventory.
    pub warnings: Vec<FleetWarning<'a>>,
}

/// How one registration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ClusterState<'a> {
    /// Counted.
    Read {
        /// When it was read.
        observed_at: Option<Timestamp>,
    },
    /// The same cluster as another registration, which counts.
    Duplicate {
        /// The registration that counts.
        same_as: &'a str,
    },
    /// The credential is refused.
    Forbidden,
    /// The cluster does not answer.
    Unreachable,
    /// It was not read yet.
    NeverRead,
}

/// Totals of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetTotals {
    /// Clusters that the totals cover.
    pub clusters: i64,
    /// Clusters without a reading.
    pub unknown_clusters: i64,
    /// Nodes.
    pub nodes: Option<i64>,
    /// Nodes with accelerators.
    pub accelerator_nodes: Option<i64>,
    /// Units by resource name.
    pub by_resource: BTreeMap<Name, Units>,
    /// Cards by vendor.
    pub physical_by_vendor: BTreeMap<&'static str, Option<i64>>,
    /// Units that pods wait for; `None` when pods can be listed nowhere.
    pub pending: Option<BTreeMap<Name, Option<i64>>>,
}

/// A warning about the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetWarning<'a> {
    /// Stable code.
    pub code: &'static str,
    /// The registration that it is about.
    pub context: &'a str,
    /// The registration that is the same cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<&'a str>,
    /// A sentence for people.
    pub text: String,
}

/// Merges the readings of a fleet. The order of the members decides only which of several registrations of one cluster
/// counts.
pub fn fleet<'a>(members: &[FleetMember<'a>]) -> FleetInventory<'a> {
    let counted = counted_by_uid(members);
    let mut clusters = BTreeMap::new();
    let mut states = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut unknown_clusters = 0;
    for member in members {
        let counts = member.uid.and_then(|uid| counted.get(uid).copied()).unwrap_or(member.name);
        let state = if counts == member.name {
            member.reading.state()
        } else {
            ClusterState::Duplicate { same_as: counts }
        };
        states.insert(member.name, state);
        match (state, member.reading) {
            (ClusterState::Duplicate { same_as }, _) => warnings.push(FleetWarning {
                code: "duplicate-cluster",
                context: member.name,
                same_as: Some(same_as),
                text: format!("{} reaches the same cluster as {same_as}, which is counted.", member.name),
            }),
            (_, Reading::Read { inventory, .. }) => {
                clusters.insert(member.name, inventory);
            }
            _ => unknown_clusters += 1,
        }
    }
    warnings.sort_by_key(|warning| (warning.code, warning.context));

    let all = || clusters.values().copied();
    let nodes = || all().flat_map(|cluster| &cluster.nodes);
    let shared = || all().flat_map(|cluster| &cluster.shared_pools).map(|pool| &pool.devices);
    let by_cluster = clusters.iter().map(|(name, cluster)| (*name, tally(cluster))).collect();
    FleetInventory {
        totals: FleetTotals { unknown_clusters, ..total(&clusters) },
        breakdown: totals::breakdown(nodes(), shared()),
        by_cluster,
        states,
        warnings,
        clusters,
    }
}

impl<'a> FleetInventory<'a> {
    /// Every node of the fleet with the name of its cluster.
    pub fn nodes(&self) -> impl Iterator<Item = (&'a str, &'a NodeInventory)> {
        self.clusters.iter().flat_map(|(name, cluster)| cluster.nodes.iter().map(move |node| (*name, node)))
    }
}

impl<'a> Reading<'a> {
    fn state(self) -> ClusterState<'a> {
        match self {
            Self::Read { observed_at, .. } => ClusterState::Read { observed_at },
            Self::Forbidden => ClusterState::Forbidden,
            Self::Unreachable => ClusterState::Unreachable,
            Self::NeverRead => ClusterState::NeverRead,
        }
    }

    /// How much a reading tells: several registrations of one cluster may have different rights.
    fn worth(self) -> u8 {
        match self {
            Self::Read { inventory, .. } if inventory.totals.nodes.is_some() => 2,
            Self::Read { .. } => 1,
            _ => 0,
        }
    }
}

/// The registration that counts, by UID: of those whose reading tells most, the first.
fn counted_by_uid<'a>(members: &[FleetMember<'a>]) -> HashMap<&'a str, &'a str> {
    let mut best: HashMap<&'a str, FleetMember<'a>> = HashMap::new();
    for member in members {
        let Some(uid) = member.uid else { continue };
        let known = best.entry(uid).or_insert(*member);
        if member.reading.worth() > known.reading.worth() {
            *known = *member;
        }
    }
    best.into_iter().map(|(uid, member)| (uid, member.name)).collect()
}

fn tally(cluster: &ClusterInventory) -> Tally {
    let mut sums = TallySums::default();
    for pool in cluster.pools() {
        sums.add_pool(pool);
    }
    sums.value()
}

fn total(clusters: &BTreeMap<&str, &ClusterInventory>) -> FleetTotals {
    let (mut nodes, mut accelerator_nodes) = (Sum::default(), Sum::default());
    let mut by_resource: BTreeMap<Name, UnitSums> = BTreeMap::new();
    let mut cards: BTreeMap<&'static str, Sum> = BTreeMap::new();
    let mut pending: Option<BTreeMap<Name, Option<i64>>> = None;
    for totals in clusters.values().map(|cluster| &cluster.totals) {
        nodes.add(totals.nodes);
        accelerator_nodes.add(totals.accelerator_nodes);
        for (resource, units) in &totals.by_resource {
            by_resource.entry(resource.clone()).or_default().add(units);
        }
        for (vendor, physical) in &totals.physical_by_vendor {
            cards.entry(vendor).or_default().add(*physical);
        }
        for (resource, units) in totals.pending.iter().flatten() {
            let sum = pending.get_or_insert_default().entry(resource.clone()).or_insert(Some(0));
            *sum = sum.zip(*units).map(|(sum, units)| sum.saturating_add(units));
        }
        if totals.pending.is_some() {
            pending.get_or_insert_default();
        }
    }
    FleetTotals {
        clusters: i64::try_from(clusters.len()).unwrap_or(i64::MAX),
        unknown_clusters: 0,
        nodes: nodes.value(),
        accelerator_nodes: accelerator_nodes.value(),
        by_resource: by_resource.into_iter().map(|(resource, sums)| (resource, sums.value())).collect(),
        physical_by_vendor: cards.into_iter().map(|(vendor, sum)| (vendor, sum.value())).collect(),
        pending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::input::Node;
    use crate::inventory::{ClusterRows, Unread, inventory};

    fn reading(nodes: Result<usize, Unread>) -> ClusterInventory {
        let node = |at: usize| Node { name: format!("n{at}").into(), ..Node::default() };
        let rows = ClusterRows {
            nodes: nodes.map(|count| (0..count).map(node).collect()),
            pods: Ok(Vec::new()),
            resource_slices: Err(Unread::Absent),
            resource_claims: Err(Unread::Absent),
            device_classes: Err(Unread::Absent),
            device_taint_rules: Err(Unread::Absent),
        };
        inventory(&rows.input())
    }

    fn member<'a>(name: &'a str, uid: &'a str, reading: Reading<'a>) -> FleetMember<'a> {
        FleetMember { name, uid: Some(uid), reading }
    }

    fn read(inventory: &ClusterInventory) -> Reading<'_> {
        Reading::Read { inventory, observed_at: None }
    }

    #[test]
    fn of_two_names_of_one_cluster_the_first_counts() {
        let inventory = reading(Ok(3));
        let fleet = fleet(&[member("b", "1", read(&inventory)), member("a", "1", read(&inventory))]);
        assert_eq!(fleet.totals.nodes, Some(3), "three nodes, not six");
        assert_eq!(fleet.states["a"], ClusterState::Duplicate { same_as: "b" });
        assert_eq!(fleet.warnings[0].same_as, Some("b"));
    }

    #[test]
    fn a_name_that_reads_more_counts_before_the_first() {
        let (bounded, whole) = (reading(Err(Unread::Forbidden)), reading(Ok(3)));
        let members = [
            member("a", "1", Reading::Unreachable),
            member("b", "1", read(&bounded)),
            member("c", "1", read(&whole)),
        ];
        let fleet = fleet(&members);
        assert_eq!(fleet.totals.nodes, Some(3));
        assert_eq!(fleet.states["a"], ClusterState::Duplicate { same_as: "c" });
        assert_eq!(fleet.states["b"], ClusterState::Duplicate { same_as: "c" });
    }

    #[test]
    fn a_cluster_without_a_reading_is_unknown_and_not_zero() {
        let inventory = reading(Ok(1));
        let members = [
            member("up", "1", read(&inventory)),
            member("down", "2", Reading::Unreachable),
            member("denied", "3", Reading::Forbidden),
            member("new", "4", Reading::NeverRead),
        ];
        let fleet = fleet(&members);
        assert_eq!((fleet.totals.clusters, fleet.totals.unknown_clusters), (1, 3));
        assert!(!fleet.clusters.contains_key("down"), "no row of zeroes stands for it");
        assert_eq!(fleet.states["down"], ClusterState::Unreachable);
    }

    #[test]
    fn a_fleet_without_any_reading_knows_no_number() {
        let fleet = fleet(&[member("down", "1", Reading::Unreachable)]);
        assert_eq!((fleet.totals.nodes, fleet.totals.pending), (None, None));
    }
}
