//! What the pods of one node hold, by resource.
//!
//! Cards that are shared outside the resource requests are attributed: KAI and Run:ai hold a card by a reservation pod in
//! their own namespace and tie it to the sharers by a group label, so the reservation's unit lists them as sharers; a
//! HAMi pod carries the record of its shares itself.

use super::hami;
use super::input::{Hold, Pod};
use super::name::Name;
use super::names;
use super::pool::{Holder, Sharer};
use super::quantity::{Count, Flaw};

/// What the pods of one node hold.
#[derive(Debug, Default)]
pub struct Load {
    held: Vec<(Name, Held)>,
    /// Pods that the kubelet rejected after the scheduler had bound them.
    pub rejected: usize,
}

/// What the pods of one node hold of one resource.
#[derive(Debug)]
pub struct Held {
    /// Units; unknown when one of the requests cannot be read.
    pub units: Option<i64>,
    /// Units of pods that any other pod may evict.
    pub reclaimable: i64,
    /// The pods.
    pub holders: Vec<Holder>,
    /// What is wrong with the requests.
    pub flaws: Vec<Flaw>,
}

impl Default for Held {
    fn default() -> Self {
        Self { units: Some(0), reclaimable: 0, holders: Vec::new(), flaws: Vec::new() }
    }
}

impl Load {
    /// Sums up the pods that are bound to one node.
    pub fn of<'p>(pods: impl Iterator<Item = &'p Pod> + Clone) -> Self {
        let mut load = Self::default();
        for pod in pods.clone() {
            load.rejected += usize::from(pod.rejected);
            if pod.hold() == Hold::Held {
                for (resource, count) in pod.requests.iter() {
                    if names::device(resource).is_some() {
                        load.entry(resource).add(pod, count);
                    }
                }
            }
        }
        for pod in pods.filter(|pod| pod.sharing.is_some() && pod.hold() == Hold::Held) {
            load.attribute(pod);
        }
        // The order in which pods were listed leaves no trace.
        for holders in load.held.iter_mut().map(|(_, held)| &mut held.holders) {
            holders.sort_by(|a, b| (&a.namespace, &a.pods).cmp(&(&b.namespace, &b.pods)));
            for sharers in holders.iter_mut().map(|holder| &mut holder.sharers) {
                sharers.sort_by(|a, b| (&a.namespace, &a.pod).cmp(&(&b.namespace, &b.pod)));
            }
        }
        load
    }

    /// The resources that are held.
    pub fn resources(&self) -> impl Iterator<Item = &Name> {
        self.held.iter().map(|(resource, _)| resource)
    }

    /// What is held of a resource. It is taken out: a second call finds nothing held.
    pub fn take(&mut self, resource: &str) -> Held {
        let held = self.held.iter_mut().find(|(name, _)| *name == *resource);
        held.map(|(_, held)| std::mem::take(held)).unwrap_or_default()
    }

    fn entry(&mut self, resource: &Name) -> &mut Held {
        let index = self.held.iter().position(|(name, _)| name == resource).unwrap_or_else(|| {
            self.held.push((resource.clone(), Held::default()));
            self.held.len() - 1
        });
        &mut self.held[index].1
    }

    /// Lists a sharing pod with the reservation that holds its card.
    fn attribute(&mut self, pod: &Pod) {
        let Some(sharing) = pod.sharing.as_deref().filter(|sharing| sharing.sharer) else {
            return;
        };
        for group in &sharing.groups {
            let reservations = self.held.iter_mut().flat_map(|(_, held)| &mut held.holders);
            if let Some(holder) =
                reservations.filter(|holder| holder.reserves(group)).min_by_key(|holder| holder.key())
            {
                holder.sharers.push(Sharer {
                    namespace: pod.namespace.clone(),
                    pod: pod.name.clone(),
                    fraction: sharing.fraction.clone(),
                    memory_mib: sharing.memory_mib,
                    device: None,
                });
            }
        }
    }
}

impl Held {
    fn add(&mut self, pod: &Pod, count: Count) {
        self.flaws.extend(count.flaw);
        self.units = self.units.zip(count.units).map(|(sum, units)| sum.saturating_add(units));
        if count.units == Some(0) {
            return;
        }
        if pod.is_reclaimable() {
            self.reclaimable = self.reclaimable.saturating_add(count.units.unwrap_or(0));
        }
        self.holders.push(Holder::of_pod(pod, count.units));
    }
}

impl Holder {
    /// A pod that holds units by its requests.
    fn of_pod(pod: &Pod, units: Option<i64>) -> Self {
        let sharing = pod.sharing.as_deref();
        let shares =
            sharing.and_then(|sharing| sharing.allocation.as_deref()).map(hami::shares).unwrap_or_default();
        Self {
            namespace: pod.namespace.clone(),
            pods: vec![pod.name.clone()],
            claim: None,
            units,
            phase: Some(pod.phase),
            terminating: pod.terminating,
            priority: pod.priority,
            reclaimable: pod.is_reclaimable(),
            idle: false,
            unhealthy: !pod.unhealthy_devices.is_empty(),
            since: pod.since,
            owner: pod.owner.clone(),
            reservation: sharing
                .filter(|sharing| !sharing.sharer)
                .map(|s| s.groups.clone())
                .unwrap_or_default(),
            sharers: shares
                .into_iter()
                .map(|share| Sharer {
                    namespace: pod.namespace.clone(),
                    pod: pod.name.clone(),
                    fraction: None,
                    memory_mib: share.memory_mib,
                    device: Some(share.device),
                })
                .collect(),
        }
    }

    fn key(&self) -> (Name, Vec<Name>) {
        (self.namespace.clone(), self.pods.clone())
    }

    fn reserves(&self, group: &Name) -> bool {
        self.reservation.contains(group)
    }
}
