//! Which devices are on which card.
//!
//! A card is a counter set that devices consume; a device may span two sets and then belongs to two cards. Without
//! counters a card is told by identity: the parent's, or its own.

use std::collections::HashMap;

use super::slices::{Place, PlacedDevice};
use crate::inventory::input::Device;

/// The cards of a place.
pub struct Cards {
    cards: Vec<Card>,
    /// Per device of the place, its cards.
    of_device: Vec<Vec<usize>>,
}

/// One card.
#[derive(Default)]
pub struct Card {
    /// Places of its devices in the list of the place.
    pub devices: Vec<usize>,
    has_counters: bool,
    has_whole: bool,
}

impl Cards {
    /// Tells the cards of a place apart.
    pub fn of(place: &Place<'_>) -> Self {
        let mut cards: Vec<Card> = Vec::new();
        let mut known: HashMap<(bool, &str, &str), usize> = HashMap::new();
        let mut of_device = vec![Vec::new(); place.devices.len()];
        // Whole devices first: they know all the names by which a part may call its parent.
        let mut order: Vec<usize> = (0..place.devices.len()).collect();
        order.sort_by_key(|index| place.devices[*index].device.is_part);
        for index in order {
            let PlacedDevice { device, pool, .. } = &place.devices[index];
            let by_counter = !device.counter_sets.is_empty();
            let groups: Vec<Vec<&str>> = if by_counter {
                device.counter_sets.iter().map(|set| vec![&**set]).collect()
            } else if device.card_ids.is_empty() {
                vec![vec![&*device.name]]
            } else {
                vec![device.card_ids.iter().map(|id| &**id).collect()]
            };
            for ids in groups {
                // Counter sets are named within their pool; identities of hardware are unique on their own.
                let key = |id| (by_counter, if by_counter { &***pool } else { "" }, id);
                let card = ids.iter().find_map(|id| known.get(&key(*id)).copied()).unwrap_or_else(|| {
                    cards.push(Card::default());
                    cards.len() - 1
                });
                for id in ids {
                    known.entry(key(id)).or_insert(card);
                }
                cards[card].devices.push(index);
                cards[card].has_counters |= by_counter;
                cards[card].has_whole |= !device.is_part;
                of_device[index].push(card);
            }
        }
        Self { cards, of_device }
    }

    /// The cards whose devices are alternatives of each other: whole and parts, or whatever draws on the same counters.
    pub fn partitionable(&self) -> impl Iterator<Item = &Card> {
        (0..self.cards.len()).filter(|card| self.is_partitionable(*card)).map(|card| &self.cards[card])
    }

    /// The cards behind a device that is a unit of its own.
    pub fn behind_unit(&self, device: usize) -> Option<&[usize]> {
        let cards = &self.of_device[device];
        (!cards.iter().any(|card| self.is_partitionable(*card))).then_some(cards)
    }

    fn is_partitionable(&self, card: usize) -> bool {
        // A device that spans two cards ties them together: what makes one of them partitionable does so for both.
        let spanned = self.cards[card].devices.iter().flat_map(|device| &self.of_device[*device]);
        spanned.chain([&card]).any(|card| self.cards[*card].has_alternatives())
    }
}

impl Card {
    fn has_alternatives(&self) -> bool {
        self.devices.len() > 1 && (self.has_counters || self.has_whole)
    }

    /// The device that stands for the card: the whole one, else the first.
    pub fn face<'s>(&self, place: &Place<'s>) -> &'s Device {
        let devices = self.devices.iter().map(|index| place.devices[*index].device);
        let is_whole = |device: &&Device| !device.is_part && device.device_type.as_deref() != Some("vfio");
        devices.clone().find(is_whole).or_else(|| devices.clone().next()).unwrap_or(place.devices[0].device)
    }

    /// Whether new claims can get nothing of the card, or its whole device is tainted: XID errors taint only the parent
    /// (dra-driver-nvidia#1316), while one tainted part leaves the rest of its card alone.
    pub fn is_blocked(&self, place: &Place<'_>) -> bool {
        let mut devices = self.devices.iter().map(|index| &place.devices[*index]);
        devices.clone().any(|placed| !placed.device.is_part && placed.is_card_blocked)
            || devices.all(|placed| placed.is_blocked)
    }
}
