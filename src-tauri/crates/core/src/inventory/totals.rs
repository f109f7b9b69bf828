//! Adding up.
//!
//! Totals are computed from pools, never stored beside them. A sum leaves out what is unknown and says how many terms
//! that were; a sum of nothing but unknowns is unknown. Sums are exact: one that no 64-bit integer holds is unknown.

use std::collections::BTreeMap;

use serde::Serialize;

use super::name::Name;
use super::node::NodeInventory;
use super::pool::{Pool, Units};

/// The totals of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Nodes; `None` when nodes cannot be listed.
    pub nodes: Option<i64>,
    /// Nodes with at least one pool.
    pub accelerator_nodes: Option<i64>,
    /// Units by resource name, shared pools included.
    pub by_resource: BTreeMap<Name, Units>,
    /// Cards by vendor. Unclassified devices are no cards.
    pub physical_by_vendor: BTreeMap<&'static str, Option<i64>>,
    /// Units that pods wait for; `None` when pods cannot be listed.
    pub pending: Option<BTreeMap<Name, Option<i64>>>,
}

/// Everything that is added up for one group of pools.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Pools in the group.
    pub pools: i64,
    /// Pools of which some number is unknown: the sums are at least what they say.
    pub unknown: i64,
    /// Cards.
    pub physical: Option<i64>,
    /// Schedulable units.
    #[serde(flatten)]
    pub units: Units,
    /// Requested units that may be evicted.
    pub reclaimable: Option<i64>,
    /// Free units that are not usable, by reason.
    pub withheld: BTreeMap<Name, i64>,
}

/// Tallies by everything that people group by.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breakdown {
    /// Everything.
    pub total: Tally,
    /// By model: the short name where the catalogue knows it, else the raw one.
    pub by_model: BTreeMap<Name, Tally>,
    /// By vendor.
    pub by_vendor: BTreeMap<Name, Tally>,
    /// By resource name or DRA driver.
    pub by_resource: BTreeMap<Name, Tally>,
    /// By region.
    pub by_region: BTreeMap<Name, Tally>,
    /// By zone.
    pub by_zone: BTreeMap<Name, Tally>,
}

/// The group of what has no model, vendor, region or zone.
pub const UNKNOWN: &str = "unknown";

/// A sum whose terms may be unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    known: Option<i128>,
}

impl Sum {
    /// Adds a term; an unknown one adds nothing.
    pub fn add(&mut self, term: Option<i64>) {
        if let Some(term) = term {
            self.known = Some(self.known.unwrap_or(0) + i128::from(term));
        }
    }

    /// The sum of the known terms.
    pub fn value(self) -> Option<i64> {
        self.known.and_then(|sum| i64::try_from(sum).ok())
    }
}

/// Sums of the five counts of units.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitSums {
    capacity: Sum,
    allocatable: Sum,
    requested: Sum,
    free: Sum,
    usable_free: Sum,
}

impl UnitSums {
    /// Adds the units of a pool, or of another total.
    pub fn add(&mut self, units: &Units) {
        self.capacity.add(units.capacity);
        self.allocatable.add(units.allocatable);
        self.requested.add(units.requested);
        self.free.add(units.free);
        self.usable_free.add(units.usable_free);
    }

    /// The sums.
    pub fn value(&self) -> Units {
        Units {
            capacity: self.capacity.value(),
            allocatable: self.allocatable.value(),
            requested: self.requested.value(),
            free: self.free.value(),
            usable_free: self.usable_free.value(),
        }
    }
}

/// Units by resource name.
pub fn by_resource<'p>(pools: impl Iterator<Item = &'p Pool>) -> BTreeMap<Name, Units> {
    let mut sums: BTreeMap<Name, UnitSums> = BTreeMap::new();
    for pool in pools {
        match sums.get_mut(&*pool.resource) {
            Some(sum) => sum.add(&pool.units),
            None => sums.entry(pool.resource.clone()).or_default().add(&pool.units),
        }
    }
    sums.into_iter().map(|(name, sum)| (name, sum.value())).collect()
}

/// Cards by vendor.
pub fn physical_by_vendor<'p>(pools: impl Iterator<Item = &'p Pool>) -> BTreeMap<&'static str, Option<i64>> {
    let mut sums: BTreeMap<&'static str, Sum> = BTreeMap::new();
    for pool in pools.filter(|pool| pool.is_classified()) {
        if let Some(vendor) = pool.vendor {
            sums.entry(vendor).or_default().add(pool.physical);
        }
    }
    sums.into_iter().map(|(vendor, sum)| (vendor, sum.value())).collect()
}

/// Adds tallies up, term by term.
#[derive(Clone, Debug, Default)]
pub struct TallySums {
    pools: i64,
    unknown: i64,
    physical: Sum,
    units: UnitSums,
    reclaimable: Sum,
    withheld: BTreeMap<Name, i64>,
}

impl TallySums {
    /// Adds a pool.
    pub fn add_pool(&mut self, pool: &Pool) {
        let Units { capacity, allocatable, requested, free, usable_free } = pool.units;
        let cards_unknown = pool.is_classified() && pool.physical.is_none();
        let units_unknown = [capacity, allocatable, requested, free, usable_free].contains(&None);
        self.pools += 1;
        self.unknown += i64::from(cards_unknown || units_unknown);
        self.physical.add(pool.physical);
        self.units.add(&pool.units);
        self.reclaimable.add(pool.reclaimable);
        self.withhold(&pool.withheld);
    }

    fn withhold(&mut self, withheld: &BTreeMap<Name, i64>) {
        for (reason, units) in withheld {
            let sum = self.withheld.entry(reason.clone()).or_default();
            *sum = sum.saturating_add(*units);
        }
    }

    /// The tally.
    pub fn value(self) -> Tally {
        Tally {
            pools: self.pools,
            unknown: self.unknown,
            physical: self.physical.value(),
            units: self.units.value(),
            reclaimable: self.reclaimable.value(),
            withheld: self.withheld,
        }
    }
}

#[derive(Default)]
struct Groups(BTreeMap<Name, TallySums>);

impl Groups {
    fn add(&mut self, group: &str, pool: &Pool) {
        match self.0.get_mut(group) {
            Some(sums) => sums.add_pool(pool),
            None => self.0.entry(group.into()).or_default().add_pool(pool),
        }
    }

    fn value(self) -> BTreeMap<Name, Tally> {
        self.0.into_iter().map(|(group, sums)| (group, sums.value())).collect()
    }
}

/// Tallies of nodes and shared pools. Shared pools have no region and no zone.
pub fn breakdown<'p>(
    nodes: impl Iterator<Item = &'p NodeInventory>,
    shared: impl Iterator<Item = &'p Pool>,
) -> Breakdown {
    let mut total = TallySums::default();
    let [mut model, mut vendor, mut resource, mut region, mut zone]: [Groups; 5] = Default::default();
    let on_nodes = nodes.flat_map(|node| node.accelerators.iter().map(move |pool| (Some(node), pool)));
    for (node, pool) in on_nodes.chain(shared.map(|pool| (None, pool))) {
        let place =
            |name: fn(&NodeInventory) -> Option<&Name>| node.and_then(name).map_or(UNKNOWN, |name| name);
        total.add_pool(pool);
        model.add(pool.model_short.or(pool.model.as_deref()).unwrap_or(UNKNOWN), pool);
        vendor.add(pool.vendor.unwrap_or(UNKNOWN), pool);
        resource.add(&pool.resource, pool);
        region.add(place(|node| node.region.as_ref()), pool);
        zone.add(place(|node| node.zone.as_ref()), pool);
    }
    Breakdown {
        total: total.value(),
        by_model: model.value(),
        by_vendor: vendor.value(),
        by_resource: resource.value(),
        by_region: region.value(),
        by_zone: zone.value(),
    }
}
