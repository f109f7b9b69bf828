//! From schedulable units to physical cards, for the pools of one node.
//!
//! A unit is a card only where nothing cuts or shares it. What cuts or shares is told by labels, annotations and names;
//! where nothing tells, the number of cards is unknown.

use super::catalogue;
use super::hami;
use super::input::Node;
use super::labels;
use super::mig;
use super::names::{self, Kind};
use super::nvidia;
use super::pool::{Pool, Sharing};
use super::warnings::{Severity, Warning};

/// Sets how many cards are behind each pool.
pub fn settle(pools: &mut [Pool], node: &Node, notes: &mut Vec<Warning>) {
    for pool in pools.iter_mut() {
        pool.physical = match pool.vendor {
            _ if !pool.is_classified() => None,
            Some("nvidia") => pool.units.capacity,
            Some("amd") => amd(pool, node),
            Some("intel") => intel(pool, node, notes),
            _ => registered_or_units(pool, node),
        };
    }
    nvidia::settle(pools, node, notes);
}

/// Cards as HAMi registered them for a pool, with the warning that its units are shares.
pub fn from_hami(pool: &mut Pool, node: &Node, notes: &mut Vec<Warning>) -> bool {
    let Some((cards, _)) = pool.vendor.and_then(|vendor| hami::cards(node, vendor)) else {
        return false;
    };
    let count = i64::try_from(cards.len()).unwrap_or(i64::MAX);
    pool.physical = Some(count);
    let split = cards.iter().map(|card| card.split).sum::<i64>();
    if split != count {
        let even = cards.iter().all(|card| card.split == cards[0].split);
        pool.sharing = Some(Sharing { strategy: "hami".into(), replicas: even.then_some(cards[0].split) });
        notes.push(shared(node));
        if pool.units.capacity.is_some_and(|units| units != split) {
            notes.push(inconsistent(
                node,
                &format!("HAMi registers {split} shares, but the node advertises another number."),
            ));
        }
    }
    true
}

/// The warning that units are shares of cards.
pub fn shared(node: &Node) -> Warning {
    Warning::of_node(
        &node.name,
        "shared-gpu",
        Severity::Info,
        "Cards are shared: a schedulable unit is less than a card.",
    )
}

/// The warning that labels and counts about sharing do not agree.
pub fn inconsistent(node: &Node, text: &str) -> Warning {
    Warning::of_node(&node.name, "sharing-label-inconsistent", Severity::Warning, text)
}

fn registered_or_units(pool: &Pool, node: &Node) -> Option<i64> {
    let unknown = names::device(&pool.resource).is_some_and(|device| device.cards_unknown);
    if !unknown {
        return pool.units.capacity;
    }
    let (cards, _) = hami::cards(node, pool.vendor?)?;
    i64::try_from(cards.len()).ok()
}

/// AMD: the compute mode tells into how many parts every card is cut, by the resource name (naming mixed) or by label
/// (naming single, where `amd.com/gpu` counts partitions).
fn amd(pool: &Pool, node: &Node) -> Option<i64> {
    let mode = match pool.kind {
        Kind::Partition => pool.profile.as_deref(),
        _ => labels::amd_partition(&node.labels),
    };
    let model = pool.model.as_deref().and_then(|raw| catalogue::model("amd", raw));
    let parts = mode.and_then(|mode| catalogue::amd_parts(mode, model)).unwrap_or(1);
    mig::ceil(pool.units.capacity?, parts)
}

/// Intel: the plugin's `-shared-dev-num` multiplies the count and no label says so; feature discovery's count of devices
/// gives it away.
fn intel(pool: &mut Pool, node: &Node, notes: &mut Vec<Warning>) -> Option<i64> {
    let units = pool.units.capacity?;
    let devices = node.labels.get("gpu.intel.com/device.count").and_then(|count| count.parse::<i64>().ok());
    match devices.filter(|devices| pool.kind == Kind::Gpu && *devices > 0 && units > *devices) {
        Some(devices) => {
            let replicas = (units % devices == 0).then_some(units / devices);
            pool.sharing = Some(Sharing { strategy: "unknown".into(), replicas });
            notes.push(shared(node));
            Some(devices)
        }
        None => Some(units),
    }
}
