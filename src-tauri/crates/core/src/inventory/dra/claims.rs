//! Which claims hold which devices, and for which pods.

use std::collections::{HashMap, HashSet};

use super::slices::Place;
use crate::inventory::input::{Hold, Pod, ResourceClaim};
use crate::inventory::name::Name;
use crate::inventory::names;
use crate::inventory::pool::Holder;
use crate::inventory::warnings::{Severity, Warning};

/// Driver, pool and name of a device: unique in a cluster.
type DeviceKey<'a> = (&'a str, &'a str, &'a str);

/// The allocations of all claims.
#[derive(Debug)]
pub struct Claims<'c> {
    by_device: HashMap<&'c str, HashMap<&'c str, HashMap<&'c str, Vec<&'c ResourceClaim>>>>,
    /// Pods that claims are reserved for; `None` when pods cannot be listed.
    pods: Option<HashMap<(&'c str, &'c str), &'c Pod>>,
}

impl<'c> Claims<'c> {
    /// Indexes the devices that claims hold. Admin access holds nothing.
    pub fn of(claims: &'c [ResourceClaim], pods: Option<&'c [Pod]>) -> Self {
        let mut by_device: HashMap<&str, HashMap<&str, HashMap<&str, Vec<&ResourceClaim>>>> = HashMap::new();
        for claim in claims {
            for result in claim.devices.iter().filter(|result| !result.admin_access) {
                let pools = by_device.entry(&*result.driver).or_default();
                let holders = pools.entry(&*result.pool).or_default().entry(&*result.device).or_default();
                // Shares of one device by one claim (shareID) hold the device once.
                if !holders.iter().any(|known| std::ptr::eq(*known, claim)) {
                    holders.push(claim);
                }
            }
        }
        for holders in by_device.values_mut().flat_map(HashMap::values_mut).flat_map(HashMap::values_mut) {
            holders.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        }
        let reserved: HashSet<(&str, &str)> = claims
            .iter()
            .flat_map(|claim| claim.reserved_for.iter().map(|pod| (&*claim.namespace, &**pod)))
            .collect();
        let pods = pods.map(|pods| {
            pods.iter()
                .map(|pod| ((&*pod.namespace, &*pod.name), pod))
                .filter(|(key, _)| reserved.contains(key))
                .collect()
        });
        Self { by_device, pods }
    }

    fn iter(&self) -> impl Iterator<Item = (DeviceKey<'c>, &[&'c ResourceClaim])> {
        self.by_device.iter().flat_map(|(driver, pools)| {
            pools.iter().flat_map(move |(pool, devices)| {
                devices.iter().map(move |(device, claims)| ((*driver, *pool, *device), claims.as_slice()))
            })
        })
    }

    /// The claims that hold a device.
    pub fn holding(&self, driver: &str, pool: &str, device: &str) -> &[&'c ResourceClaim] {
        let found = self.by_device.get(driver).and_then(|pools| pools.get(pool)?.get(device));
        found.map_or(&[], Vec::as_slice)
    }

    /// Whether pods could be listed.
    pub fn knows_pods(&self) -> bool {
        self.pods.is_some()
    }

    /// Whether any other pod may evict every user of a claim; `None` when pods cannot be listed.
    pub fn is_reclaimable(&self, claim: &ResourceClaim) -> Option<bool> {
        self.pods.as_ref()?;
        let mut users = self.users(claim).peekable();
        Some(users.peek().is_some() && users.all(Pod::is_reclaimable))
    }

    fn users<'a>(&'a self, claim: &'a ResourceClaim) -> impl Iterator<Item = &'c Pod> + 'a {
        claim
            .reserved_for
            .iter()
            .filter_map(|pod| self.pods.as_ref()?.get(&(&*claim.namespace, &**pod)).copied())
    }

    /// The holder that a claim is, with `units` of one pool.
    pub fn holder(&self, claim: &ResourceClaim, units: i64) -> Holder {
        let first = self.users(claim).next();
        Holder {
            namespace: claim.namespace.clone(),
            pods: claim.reserved_for.to_vec(),
            claim: Some(claim.name.clone()),
            units: Some(units),
            phase: first.map(|pod| pod.phase),
            terminating: first.is_some_and(|pod| pod.terminating),
            priority: self.users(claim).filter_map(|pod| pod.priority).max(),
            reclaimable: self.is_reclaimable(claim) == Some(true),
            idle: claim.reserved_for.is_empty(),
            unhealthy: self.users(claim).any(|pod| !pod.unhealthy_devices.is_empty()),
            since: claim.created.or(first.and_then(|pod| pod.since)),
            owner: first.and_then(|pod| pod.owner.clone()),
            reservation: Box::default(),
            sharers: Vec::new(),
        }
    }

    /// Reports allocations of devices that no current slice lists: the card is gone, and its claim does not know.
    pub fn note_vanished(&self, places: &[Place<'_>], notes: &mut Vec<Warning>) {
        let mut listed: HashSet<DeviceKey<'_>> = HashSet::new();
        let mut nodes: HashMap<(&str, &str), &Name> = HashMap::new();
        for place in places {
            for placed in &place.devices {
                listed.insert((&place.driver, placed.pool, &placed.device.name));
                if let Some(node) = &place.node {
                    nodes.insert((&place.driver, placed.pool), node);
                }
            }
        }
        for (key, holders) in self.iter() {
            let (driver, pool, device) = key;
            if listed.contains(&key) || names::driver(driver).is_none() {
                continue;
            }
            for claim in holders {
                let of_user = self
                    .users(claim)
                    .filter(|pod| pod.hold() == Hold::Held)
                    .find_map(|pod| pod.node.as_ref());
                let node = nodes.get(&(driver, pool)).copied().or(of_user).cloned();
                let text = format!(
                    "Claim {}/{} holds device {device} of pool {pool}, which its driver no longer lists.",
                    claim.namespace, claim.name
                );
                let warning =
                    Warning::of_cluster("dra-device-vanished", Severity::Error, text).about(&driver.into());
                notes.push(Warning { node, ..warning });
            }
        }
    }
}
