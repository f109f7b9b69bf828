//! From devices to pools, in one place.
//!
//! Two ways of counting. Where slices list a card together with parts or other uses of it (partitionable devices, KEP-4815;
//! static MIG nodes that list whole GPUs as well, dra-driver-nvidia#719), the listed devices overlap and cannot be added:
//! the pool counts cards, a card is busy when any of its devices is allocated, and free means wholly free. Everywhere
//! else each device is a unit, and the cards behind units are told apart by their parents.

use std::collections::{BTreeMap, HashSet};

use super::cards::{Card, Cards};
use super::claims::Claims;
use super::slices::{Place, PlacedDevice};
use crate::inventory::catalogue;
use crate::inventory::input::{Device, ResourceClaim};
use crate::inventory::name::Name;
use crate::inventory::names::Kind;
use crate::inventory::pool::{Partitions, Pool, Source, Units};
use crate::inventory::warnings::{Severity, Warning};

/// The pools of one place.
pub fn pools(place: &Place<'_>, claims: Option<&Claims<'_>>, notes: &mut Vec<Warning>) -> Vec<Pool> {
    note_taints(place, notes);
    let cards = Cards::of(place);
    let mut groups: BTreeMap<Key, Group<'_>> = BTreeMap::new();
    for card in cards.partitionable() {
        let group = groups.entry(Key::of(place, card.face(place), true)).or_default();
        group.add_card(place, card, claims);
    }
    // A card that two groups cut into units is counted in the first.
    let mut counted: HashSet<usize> = HashSet::new();
    for (index, placed) in place.devices.iter().enumerate() {
        if let Some(of_device) = cards.behind_unit(index) {
            let group = groups.entry(Key::of(place, placed.device, false)).or_default();
            let fresh = of_device.iter().filter(|card| counted.insert(**card)).count();
            group.add_unit(place, placed, fresh, claims);
        }
    }
    groups.into_iter().map(|(key, group)| group.into_pool(key, place, claims)).collect()
}

fn note_taints(place: &Place<'_>, notes: &mut Vec<Warning>) {
    let blocked = place.devices.iter().filter(|placed| placed.is_card_blocked).count();
    if blocked > 0 {
        let text = format!("{blocked} devices of {} are tainted: new claims are kept off.", place.driver);
        let warning = Warning::of_cluster("dra-device-tainted", Severity::Warning, text);
        notes.push(Warning { node: place.node.clone(), ..warning });
    }
}

/// What tells one pool of a place from another.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: Kind,
    model: Option<Name>,
    profile: Option<Name>,
    memory_mib: Option<i64>,
    counts_cards: bool,
}

impl Key {
    fn of(place: &Place<'_>, device: &Device, counts_cards: bool) -> Self {
        let kind = match device.device_type.as_deref() {
            _ if place.kind.kind == Kind::Unclassified => Kind::Unclassified,
            Some("mig") => Kind::Mig,
            Some("vfio") => Kind::Passthrough,
            Some(other) if device.is_part && other.ends_with("-partition") => Kind::Partition,
            _ => place.kind.kind,
        };
        // A pool of cards is one kind of card, however parts of it are listed.
        let kind =
            if counts_cards && matches!(kind, Kind::Mig | Kind::Partition) { place.kind.kind } else { kind };
        let is_cut = matches!(kind, Kind::Mig | Kind::Partition);
        Self {
            kind,
            model: device.model.clone(),
            profile: device.profile.clone().filter(|_| is_cut),
            // Only a part of the card is listed: its memory is not the card's.
            memory_mib: device.memory_mib.filter(|_| !(counts_cards && device.is_part)),
            counts_cards,
        }
    }
}

/// A pool while it is counted.
#[derive(Default)]
struct Group<'c> {
    total: i64,
    healthy: i64,
    held: i64,
    free: i64,
    reclaimable: i64,
    cards: i64,
    driver_version: Option<Name>,
    partitions: BTreeMap<Name, Partitions>,
    holders: Vec<(&'c ResourceClaim, i64)>,
}

impl<'c> Group<'c> {
    fn add_card(&mut self, place: &Place<'_>, card: &Card, claims: Option<&Claims<'c>>) {
        let blocked = card.is_blocked(place);
        let of_device = |index: &usize| holding(place, &place.devices[*index], claims);
        let holders: Vec<&'c ResourceClaim> = card.devices.iter().flat_map(of_device).copied().collect();
        self.count(blocked, &holders, claims);
        self.cards += 1;
        self.driver_version = self.driver_version.take().or_else(|| card.face(place).driver_version.clone());
        for index in &card.devices {
            let device = place.devices[*index].device;
            let Some(profile) = device.profile.as_ref().filter(|_| device.is_part) else {
                continue;
            };
            let part = self.partitions.entry(profile.clone()).or_default();
            let is_held = !of_device(index).is_empty();
            part.listed += 1;
            part.allocated = claims.map(|_| part.allocated.unwrap_or(0) + i64::from(is_held));
        }
    }

    fn add_unit(
        &mut self,
        place: &Place<'_>,
        placed: &PlacedDevice<'_>,
        cards: usize,
        claims: Option<&Claims<'c>>,
    ) {
        let holding = holding(place, placed, claims);
        self.count(placed.is_blocked, holding, claims);
        self.cards += i64::try_from(cards).unwrap_or(0);
        self.driver_version = self.driver_version.take().or_else(|| placed.device.driver_version.clone());
    }

    fn count(&mut self, blocked: bool, holding: &[&'c ResourceClaim], claims: Option<&Claims<'c>>) {
        let held = !holding.is_empty();
        self.total += 1;
        self.healthy += i64::from(!blocked);
        self.held += i64::from(held);
        self.free += i64::from(!blocked && !held);
        let is_reclaimable = held
            && claims
                .is_some_and(|claims| holding.iter().all(|claim| claims.is_reclaimable(claim) == Some(true)));
        self.reclaimable += i64::from(is_reclaimable);
        for claim in holding {
            match self.holders.iter_mut().find(|(known, _)| std::ptr::eq(*known, *claim)) {
                Some((_, units)) => *units += 1,
                None => self.holders.push((claim, 1)),
            }
        }
    }

    fn into_pool(mut self, key: Key, place: &Place<'_>, claims: Option<&Claims<'c>>) -> Pool {
        let vendor = place.kind.vendor;
        let known = |units: i64| claims.map(|_| units);
        let mut pool = Pool::new(vendor, key.kind, place.driver.clone(), Source::Dra);
        pool.model_short = vendor
            .zip(key.model.as_deref())
            .and_then(|(vendor, raw)| catalogue::model(vendor, raw))
            .map(|model| model.short.as_str());
        pool.model_origin = key.model.as_ref().map(|_| "resourceslice");
        pool.model = key.model;
        pool.memory_origin = key.memory_mib.map(|_| "resourceslice");
        pool.memory_mib = key.memory_mib;
        pool.profile = key.profile;
        pool.driver_version = self.driver_version;
        pool.partitions = key.counts_cards.then_some(self.partitions);
        pool.units = Units {
            capacity: Some(self.total),
            allocatable: Some(self.healthy),
            requested: known(self.held),
            free: known(self.free),
            usable_free: None,
        };
        pool.reclaimable = claims.filter(|claims| claims.knows_pods()).map(|_| self.reclaimable);
        pool.physical = pool.is_classified().then_some(self.cards);
        self.holders.sort_by(|(a, _), (b, _)| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        pool.holders = claims
            .map(|claims| self.holders.iter().map(|(claim, units)| claims.holder(claim, *units)).collect());
        pool
    }
}

fn holding<'a, 'c>(
    place: &Place<'_>,
    placed: &PlacedDevice<'_>,
    claims: Option<&'a Claims<'c>>,
) -> &'a [&'c ResourceClaim] {
    claims.map_or(&[], |claims| claims.holding(&place.driver, placed.pool, &placed.device.name))
}
