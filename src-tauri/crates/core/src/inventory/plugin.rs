//! Pools of the device plugins: what a node's status counts.
//!
//! Capacity is what the plugin knows, allocatable what is healthy; neither falls when pods take devices
//! (k8s-device-plugin#452). A node without an allocatable map has its capacity allocatable (API default); a name that is
//! missing from a map that exists counts 0. Names that are 0 throughout are left-overs of a plugin that went or of an
//! earlier cut (k8s-device-plugin#214) and are not shown, unless pods still hold them.

use super::cards;
use super::catalogue;
use super::hami;
use super::input::{Node, Resources};
use super::labels;
use super::load::{Held, Load};
use super::name::Name;
use super::names::{self, DeviceName, Kind};
use super::pool::{Pool, Source, Units};
use super::provider;
use super::quantity::{Count, Flaw};
use super::warnings::{self, Severity, Warning};

/// More devices than this on one node are a mistake somewhere.
const PLAUSIBLE: i64 = 1024;

/// The pools of one node, in the order of their names. `load` is `None` when pods cannot be listed.
pub fn pools(
    node: &Node,
    provider: Option<&str>,
    mut load: Option<Load>,
    notes: &mut Vec<Warning>,
) -> Vec<Pool> {
    let mut pools: Vec<Pool> = resource_names(node, load.as_ref())
        .into_iter()
        .filter_map(|name| {
            let held = load.as_mut().map(|load| load.take(&name));
            pool(node, &name, names::device(&name)?, held, notes)
        })
        .collect();
    merge_aliases(&mut pools);
    for pool in &mut pools {
        describe(pool, node, provider);
    }
    cards::settle(&mut pools, node, notes);
    for pool in &pools {
        note_health(pool, node, notes);
    }
    pools
}

fn resource_names(node: &Node, load: Option<&Load>) -> Vec<Name> {
    let maps = [node.capacity.as_ref(), node.allocatable.as_ref()];
    let advertised = maps.into_iter().flatten().flat_map(Resources::iter).map(|(name, _)| name);
    let held = load.into_iter().flat_map(Load::resources);
    let mut names: Vec<Name> = advertised.chain(held).cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// What the node's status says about one name.
struct Status {
    capacity: Count,
    allocatable: Count,
    /// There is no allocatable map beside the capacity map.
    is_defaulted: bool,
}

impl Status {
    fn of(node: &Node, name: &Name) -> Self {
        let count = |map: &Resources| map.get(name).unwrap_or(Count::ZERO);
        let unknown = Count { units: None, flaw: None };
        let (capacity, allocatable) = match (&node.capacity, &node.allocatable) {
            (Some(capacity), Some(allocatable)) => (count(capacity), count(allocatable)),
            (Some(only), None) | (None, Some(only)) => (count(only), count(only)),
            (None, None) => (unknown, unknown),
        };
        Self { capacity, allocatable, is_defaulted: node.capacity.is_some() && node.allocatable.is_none() }
    }

    fn flaws(&self) -> impl Iterator<Item = Flaw> {
        self.capacity.flaw.into_iter().chain(self.allocatable.flaw)
    }

    fn is_above_zero(&self) -> bool {
        [self.capacity, self.allocatable].iter().any(|count| count.units.is_some_and(|units| units > 0))
    }

    /// A node in transition may say less capacity than allocatable: its size is then the larger (skypilot#10395).
    fn size(&self) -> Option<i64> {
        let (known, healthy) = self.capacity.units.zip(self.allocatable.units).unzip();
        known.max(healthy).or(self.capacity.units)
    }
}

fn pool(
    node: &Node,
    name: &Name,
    device: DeviceName<'_>,
    held: Option<Held>,
    notes: &mut Vec<Warning>,
) -> Option<Pool> {
    let status = Status::of(node, name);
    let is_classified = device.kind != Kind::Unclassified;
    let is_held = held.as_ref().is_some_and(|held| held.units != Some(0));
    let is_flawed = is_classified && status.flaws().next().is_some();
    if !(is_held || status.is_above_zero() || is_flawed) {
        return None;
    }
    let flaws: Vec<Flaw> =
        status.flaws().chain(held.iter().flat_map(|held| held.flaws.iter().copied())).collect();
    note_status(node, name, &status, flaws, is_classified, notes);

    let mut pool = Pool::new(device.vendor, device.kind, name.clone(), Source::DevicePlugin);
    pool.profile = device.profile.map(Name::from);
    pool.units.capacity = status.size();
    pool.units.allocatable = status.allocatable.units;
    pool.units.requested = held.as_ref().and_then(|held| held.units);
    pool.settle_free();
    pool.reclaimable = held.as_ref().map(|held| held.reclaimable);
    pool.holders = held.map(|held| held.holders);
    Some(pool)
}

fn note_status(
    node: &Node,
    name: &Name,
    status: &Status,
    flaws: Vec<Flaw>,
    is_classified: bool,
    notes: &mut Vec<Warning>,
) {
    let mut note = |code: &'static str, severity, text: &str| {
        notes.push(Warning::of_node(&node.name, code, severity, text).about(name));
    };
    for flaw in flaws {
        let (code, severity, text) = warnings::of_flaw(flaw);
        note(code, severity, text);
    }
    if !is_classified {
        let text = "No table knows this name. It is shown, and left out of the cards.";
        note("unclassified-resource", Severity::Info, text);
    }
    if status.is_defaulted {
        let text =
            "The node does not say what is allocatable; that is its capacity, by the default of the API.";
        note("allocatable-missing", Severity::Info, text);
    }
    if let (Some(known), Some(healthy)) = (status.capacity.units, status.allocatable.units)
        && healthy > known
    {
        let text = format!(
            "The node says capacity {known} and allocatable {healthy}; the larger is taken as its size."
        );
        note("allocatable-above-capacity", Severity::Warning, &text);
    }
    if is_classified && status.size().is_some_and(|units| units > PLAUSIBLE) {
        note("quantity-implausible", Severity::Warning, "More devices than one node can have.");
    }
}

/// Folds a second name of the same devices into the first: Neuron's plugin counts its chips under two names at once.
fn merge_aliases(pools: &mut Vec<Pool>) {
    for index in (0..pools.len()).rev() {
        let canonical = names::device(&pools[index].resource).and_then(|device| device.alias_of);
        if !canonical.is_some_and(|name| pools.iter().any(|pool| pool.resource == name)) {
            continue;
        }
        let alias = pools.remove(index);
        if let Some(pool) = pools.iter_mut().find(|pool| canonical.is_some_and(|name| pool.resource == name))
        {
            pool.absorb(alias);
        }
    }
}

impl Pool {
    /// Free is what is healthy and not held. When a held card fails, more is held than is healthy: the scheduler agrees
    /// that nothing is free then, even where a healthy card is idle (k8s#92592).
    fn settle_free(&mut self) {
        let known = self.units.allocatable.zip(self.units.requested);
        self.units.free = known.map(|(healthy, held)| healthy.saturating_sub(held).max(0));
    }

    fn absorb(&mut self, alias: Self) {
        let sum = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
        self.units.requested = sum(self.units.requested, alias.units.requested);
        self.settle_free();
        self.reclaimable = sum(self.reclaimable, alias.reclaimable);
        if let (Some(holders), Some(more)) = (&mut self.holders, alias.holders) {
            holders.extend(more);
        }
    }
}

/// Model, memory and driver, from labels; from HAMi's register where there are none.
fn describe(pool: &mut Pool, node: &Node, provider: Option<&str>) {
    let Some(vendor) = pool.vendor.filter(|_| pool.is_classified()) else {
        return;
    };
    if matches!(pool.kind, Kind::Passthrough | Kind::Vgpu) {
        // These names are the model, except for the alias under which all passthrough cards may be pooled.
        let model = pool.resource.split_once('/').map(|(_, model)| model).filter(|model| *model != "pgpu");
        pool.model = model.map(Name::from);
        pool.model_origin = model.map(|_| "resource-name");
    } else {
        let registered = hami::cards(node, vendor)
            .filter(|_| matches!(pool.kind, Kind::Gpu | Kind::GpuVirtual | Kind::Npu));
        let card = registered.as_ref().and_then(|(cards, key)| Some((cards.first()?, *key)));
        match labels::model(vendor, node, provider) {
            Some(found) => (pool.model, pool.model_origin) = (Some(found.value), Some(found.label)),
            None => {
                pool.model = card.and_then(|(card, _)| card.model.clone());
                pool.model_origin = card.filter(|(card, _)| card.model.is_some()).map(|(_, key)| key);
            }
        }
        match memory_of(pool, vendor, node) {
            Some((mib, label)) => (pool.memory_mib, pool.memory_origin) = (Some(mib), Some(label)),
            None => {
                pool.memory_mib = card.and_then(|(card, _)| card.memory_mib);
                pool.memory_origin = card.filter(|(card, _)| card.memory_mib.is_some()).map(|(_, key)| key);
            }
        }
    }
    let named = pool.model.as_deref().and_then(|raw| catalogue::model(vendor, raw));
    pool.model_short = named.map(|model| model.short.as_str());
    if pool.model.is_none() {
        let instance = provider.zip(provider::instance_type(&node.labels));
        let model =
            instance.and_then(|(cloud, instance)| catalogue::model_of_instance(vendor, cloud, instance));
        pool.model_short = model.map(|model| model.short.as_str());
        pool.model_origin = model.map(|_| "instance-type");
    }
    if vendor == "nvidia" {
        pool.cuda_version = node.labels.get("nvidia.com/cuda.runtime-version.full").map(Name::from);
        pool.driver_version =
            ["nvidia.com/cuda.driver-version.full", "cloud.google.com/gke-gpu-driver-version"]
                .into_iter()
                .find_map(|key| node.labels.get(key))
                .map(Name::from);
    }
}

/// A MIG profile has a memory label of its own under strategy mixed; the plain label is then the memory of a whole card.
fn memory_of(pool: &Pool, vendor: &str, node: &Node) -> Option<(i64, &'static str)> {
    if let Some(profile) = pool.profile.as_deref().filter(|_| vendor == "nvidia") {
        let mib = node
            .labels
            .get(&format!("nvidia.com/mig-{profile}.memory"))?
            .parse()
            .ok()
            .filter(|mib| *mib > 0)?;
        return Some((mib, "nvidia.com/mig-<profile>.memory"));
    }
    labels::memory_mib(vendor, node).map(|found| (found.value, found.label))
}

fn note_health(pool: &Pool, node: &Node, notes: &mut Vec<Warning>) {
    let mut note = |code: &'static str, severity, text: String| {
        notes.push(Warning::of_node(&node.name, code, severity, text).about(&pool.resource));
    };
    let Units { capacity, allocatable, requested, .. } = pool.units;
    match (capacity, allocatable) {
        (Some(capacity), Some(0)) if capacity > 0 => note(
            "allocatable-zero",
            Severity::Error,
            format!(
                "None of {capacity} devices is allocatable: the device plugin is gone or all devices failed."
            ),
        ),
        (Some(capacity), Some(healthy)) if healthy < capacity => note(
            "devices-unhealthy",
            Severity::Error,
            format!("{} of {capacity} devices are unhealthy.", capacity - healthy),
        ),
        _ => {}
    }
    if let (Some(healthy), Some(held)) = (allocatable, requested)
        && held > healthy
    {
        note(
            "overcommitted",
            Severity::Warning,
            format!("Pods hold {held} devices where {healthy} are allocatable."),
        );
        if capacity == Some(0) {
            note(
                "resource-vanished",
                Severity::Error,
                "Pods hold devices under a name that the node no longer advertises.".to_owned(),
            );
        }
    }
    if pool.holders.iter().flatten().any(|holder| holder.unhealthy) {
        note(
            "held-device-unhealthy",
            Severity::Error,
            "A pod holds a device that the kubelet reports unhealthy.".into(),
        );
    }
}
