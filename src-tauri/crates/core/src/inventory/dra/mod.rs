//! Pools of Dynamic Resource Allocation (`resource.k8s.io`).
//!
//! A device is allocated when a claim's status names it; a claim that many pods share holds it once, and admin access
//! holds nothing. The node of a device comes from its slice, never from the claim. Where the slices list a card and the
//! parts that it can be cut into, the pool counts cards; see [`rows`].
//!
//! Deliberately absent: evaluating CEL, so taint rules and classes that need it are named, not applied; and the
//! ResourcePoolStatusRequest API, which would have to create an object in order to read.

mod cards;
mod claims;
mod rows;
mod slices;

use std::collections::HashMap;

use super::input::{DeviceTaintRule, Pod, ResourceClaim, ResourceSlice};
use super::name::Name;
use super::pool::Pool;
use super::warnings::Warning;

pub(super) use claims::Claims;

/// The pools of DRA drivers, by where their devices can be used.
#[derive(Debug, Default)]
pub struct DraPools {
    /// By node.
    pub by_node: HashMap<Name, Vec<Pool>>,
    /// Devices that belong to no single node.
    pub shared: Vec<SharedPool>,
    /// What there is to say about them.
    pub notes: Vec<Warning>,
}

impl DraPools {
    /// The pools on a node.
    pub fn on_node(&self, name: &str) -> Vec<Pool> {
        self.by_node.get(name).cloned().unwrap_or_default()
    }
}

/// Devices that belong to no single node: network-attached, or with a node selector. Counted once per cluster.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SharedPool {
    /// The driver.
    pub driver: Name,
    /// The driver's name of the pool.
    pub pool: Name,
    /// The devices.
    #[serde(flatten)]
    pub devices: Pool,
}

/// Joins slices, claims, taint rules and pods into pools. `claims` is `None` when claims cannot be listed: what is held
/// is then unknown. `pods` serves to tell the priority of a claim's pods.
pub fn pools(
    slices: &[ResourceSlice],
    claims: Option<&[ResourceClaim]>,
    rules: &[DeviceTaintRule],
    pods: Option<&[Pod]>,
) -> DraPools {
    let mut notes = Vec::new();
    let claims = claims.map(|claims| Claims::of(claims, pods));
    let places = slices::places(slices, rules, &mut notes);
    if let Some(claims) = &claims {
        claims.note_vanished(&places, &mut notes);
    }
    let mut pools = DraPools::default();
    for place in &places {
        for pool in rows::pools(place, claims.as_ref(), &mut notes) {
            match &place.node {
                Some(node) => pools.by_node.entry(node.clone()).or_default().push(pool),
                None => pools.shared.push(SharedPool {
                    driver: place.driver.clone(),
                    pool: place.pool.clone(),
                    devices: pool,
                }),
            }
        }
    }
    pools.notes = notes;
    pools
}
