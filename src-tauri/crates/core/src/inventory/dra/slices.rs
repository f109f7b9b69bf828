//! Which devices there are, and where: the current slices of every pool, joined with taint rules.

use std::collections::{BTreeMap, HashMap};

use crate::inventory::input::{Device, DeviceTaint, DeviceTaintRule, Placement, ResourceSlice};
use crate::inventory::name::Name;
use crate::inventory::names::{self, DeviceName};
use crate::inventory::warnings::{Severity, Warning};

/// The devices of one driver in one place: on a node, or in a pool that several nodes reach.
#[derive(Debug)]
pub struct Place<'s> {
    /// The node, unless several nodes reach the devices.
    pub node: Option<Name>,
    /// The driver.
    pub driver: Name,
    /// What the driver's devices are.
    pub kind: DeviceName<'static>,
    /// The pool; on a node with several pools of one driver, the first.
    pub pool: Name,
    /// The devices.
    pub devices: Vec<PlacedDevice<'s>>,
}

/// A device with what administrators said about it.
#[derive(Debug)]
pub struct PlacedDevice<'s> {
    /// The device of the slice.
    pub device: &'s Device,
    /// Its pool.
    pub pool: &'s Name,
    /// A taint, by driver or rule, keeps new claims off.
    pub is_blocked: bool,
    /// Such a taint speaks against the card itself, not only against this way to cut it.
    pub is_card_blocked: bool,
}

/// The devices of every accelerator driver, by place, ordered by driver, node and pool.
pub fn places<'s>(
    slices: &'s [ResourceSlice],
    rules: &[DeviceTaintRule],
    notes: &mut Vec<Warning>,
) -> Vec<Place<'s>> {
    let rules = applicable(rules, notes);
    let mut places: BTreeMap<(Name, Option<Name>, Name), Place<'s>> = BTreeMap::new();
    for slice in current(slices, notes) {
        let Some(kind) = names::driver(&slice.driver) else {
            continue;
        };
        for device in &slice.devices {
            let node = match (&slice.placement, &device.placement) {
                (Placement::Node(node), _) | (Placement::PerDevice, Placement::Node(node)) => {
                    Some(node.clone())
                }
                _ => None,
            };
            // On a node the driver's pools belong together; a shared pool is a row of its own.
            let pool = if node.is_some() { Name::default() } else { slice.pool.clone() };
            let place = places.entry((slice.driver.clone(), node.clone(), pool)).or_insert_with(|| Place {
                node,
                driver: slice.driver.clone(),
                kind,
                pool: slice.pool.clone(),
                devices: Vec::new(),
            });
            place.devices.push(placed(slice, device, &rules));
        }
    }
    let mut places: Vec<Place<'s>> = places.into_values().collect();
    for place in &mut places {
        place.devices.sort_by(|a, b| (a.pool, &a.device.name).cmp(&(b.pool, &b.device.name)));
    }
    places
}

/// Per driver and pool, only the slices of the highest generation count. Fewer of them than the pool says it has: shown,
/// with a warning.
fn current<'s>(slices: &'s [ResourceSlice], notes: &mut Vec<Warning>) -> Vec<&'s ResourceSlice> {
    let mut newest: HashMap<(&str, &str), i64> = HashMap::new();
    for slice in slices {
        let generation = newest.entry((&slice.driver, &slice.pool)).or_insert(slice.generation);
        *generation = slice.generation.max(*generation);
    }
    let is_current =
        |slice: &&ResourceSlice| newest.get(&(&*slice.driver, &*slice.pool)) == Some(&slice.generation);
    let current: Vec<&ResourceSlice> = slices.iter().filter(is_current).collect();

    let mut seen: HashMap<(&str, &str), i64> = HashMap::new();
    for slice in &current {
        *seen.entry((&slice.driver, &slice.pool)).or_default() += 1;
    }
    for slice in &current {
        let (Some(expected), Some(seen)) = (slice.slice_count, seen.get(&(&*slice.driver, &*slice.pool)))
        else {
            continue;
        };
        if *seen < expected && names::driver(&slice.driver).is_some() {
            let text = format!(
                "Pool {} shows {seen} of {expected} slices: its driver is still publishing.",
                slice.pool
            );
            let node = match &slice.placement {
                Placement::Node(node) => Some(node.clone()),
                Placement::Shared | Placement::PerDevice => None,
            };
            notes.push(Warning {
                node,
                ..Warning::of_cluster("dra-pool-incomplete", Severity::Warning, text)
            });
        }
    }
    current
}

/// Rules that can be joined by driver, pool and device. A rule without a selector matches nothing (resource/v1alpha3).
fn applicable<'r>(
    rules: &'r [DeviceTaintRule],
    notes: &mut Vec<Warning>,
) -> Vec<(&'r DeviceTaintRule, &'r DeviceTaint)> {
    rules
        .iter()
        .filter(|rule| rule.has_selector)
        .filter_map(|rule| Some((rule, rule.taint.as_ref()?)))
        .filter(|(rule, taint)| {
            if rule.needs_evaluation && taint.blocks {
                let text = format!(
                    "Device taint rule {} selects by class or expression, which is not evaluated here: the devices that it \
                     withdraws are shown as allocatable.",
                    rule.name
                );
                notes.push(Warning::of_cluster("device-taint-rule-not-applied", Severity::Warning, text));
            }
            !rule.needs_evaluation
        })
        .collect()
}

fn placed<'s>(
    slice: &'s ResourceSlice,
    device: &'s Device,
    rules: &[(&DeviceTaintRule, &DeviceTaint)],
) -> PlacedDevice<'s> {
    let is = |wanted: &Option<Box<str>>, name: &Name| wanted.as_deref().is_none_or(|wanted| *name == *wanted);
    let by_rule = rules
        .iter()
        .filter(|(rule, _)| {
            is(&rule.driver, &slice.driver) && is(&rule.pool, &slice.pool) && is(&rule.device, &device.name)
        })
        .map(|(_, taint)| *taint);
    let blocking: Vec<&DeviceTaint> =
        device.taints.iter().chain(by_rule).filter(|taint| taint.blocks).collect();
    PlacedDevice {
        device,
        pool: &slice.pool,
        is_blocked: !blocking.is_empty(),
        is_card_blocked: blocking.iter().any(|taint| !names::is_mode_taint(&taint.key)),
    }
}
