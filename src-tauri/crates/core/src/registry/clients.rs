//! The clients at hand: kept per cluster, so that reads share connections.
//!
//! Invariants: a client belongs to one generation of one registration, and a reader that saw a later one gets a later
//! client; however many callers want the same client at once, it is built once; the number is bounded, and what is not
//! used is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;

use super::ClusterName;
use super::record::Generation;
use crate::tenant::Org;

/// How many clients are kept. Each holds a few connections and its TLS state.
const CAPACITY: usize = 256;
/// After how long without use a client is dropped.
const IDLE: SignedDuration = SignedDuration::from_mins(30);

type Key = (Org, ClusterName);

/// A place for one client: empty, being filled, or filled.
pub(super) type Place<K> = Arc<OnceCell<K>>;

struct Slot<K> {
    generation: Generation,
    place: Place<K>,
    used: Timestamp,
}

pub(super) struct Clients<K> {
    slots: Mutex<HashMap<Key, Slot<K>>>,
}

impl<K> Clients<K> {
    pub fn new() -> Self {
        Self { slots: Mutex::new(HashMap::new()) }
    }

    /// The place for this generation's client. A place of another generation is given up; whoever still fills or uses
    /// it does so for itself.
    pub fn place(&self, org: &Org, name: &ClusterName, generation: &Generation, now: Timestamp) -> Place<K> {
        let mut slots = self.lock();
        slots.retain(|_, slot| now.duration_since(slot.used) < IDLE);
        let key = (org.clone(), name.clone());
        if let Some(slot) = slots.get_mut(&key).filter(|slot| slot.generation == *generation) {
            slot.used = now;
            return Arc::clone(&slot.place);
        }
        slots.remove(&key);
        if slots.len() >= CAPACITY {
            let oldest = slots.iter().min_by_key(|(_, slot)| slot.used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                slots.remove(&oldest);
            }
        }
        let place = Place::default();
        slots.insert(key, Slot { generation: generation.clone(), place: Arc::clone(&place), used: now });
        place
    }

    /// Drops the client of a cluster, of whatever generation.
    pub fn forget(&self, org: &Org, name: &ClusterName) {
        self.lock().remove(&(org.clone(), name.clone()));
    }

    /// Drops the client of this generation, and leaves a later one alone.
    pub fn forget_generation(&self, org: &Org, name: &ClusterName, generation: &Generation) {
        let mut slots = self.lock();
        let key = (org.clone(), name.clone());
        if slots.get(&key).is_some_and(|slot| slot.generation == *generation) {
            slots.remove(&key);
        }
    }

    /// Drops them all.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Slot<K>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
