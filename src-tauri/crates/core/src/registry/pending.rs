//! The org's list of unfinished work, at `orgs/<org>/k8s/purge`: credentials that have to be purged unless the index
//! has a row for them.
//!
//! An entry is written before a credential is sealed or a row is removed, and taken out when that is finished. So
//! there is no moment in which a credential lies in the KMS without a row or an entry, whoever is killed when. An entry
//! is also a lease: whoever holds it is the only one that registers or removes that cluster; after [`LEASE`] others may
//! take it over. Who takes over does not trust the entry but the index: with a row, the entry is void; without, the
//! credential is purged.
//!
//! What remains is clocks: a desktop whose clock is ahead by more than the lease can take over work that is going on.
//! The holder notices when it finishes, and says so instead of reporting success.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::documents::{Change, Document, Fault};
use super::index::{KNOWN_SCHEMA, elements};
use super::{ClusterName, RegistryError};

/// How long an entry keeps others away.
pub(super) const LEASE: SignedDuration = SignedDuration::from_mins(2);
/// After how long the holder itself stops writing. The rest of the lease is for a request that is still on its way.
pub(super) const HOLD: std::time::Duration = std::time::Duration::from_secs(60);

/// A credential that is still to be purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPurge {
    /// The cluster it was for.
    pub name: ClusterName,
    /// Since when.
    pub since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub name: String,
    pub since: Timestamp,
    /// Who works on it.
    pub holder: String,
    /// Until when the holder is waited for.
    pub until: Timestamp,
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

/// The list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PurgeList {
    pub entries: Vec<Entry>,
}

impl Document for PurgeList {
    fn parse(text: &[u8]) -> Result<Self, Fault> {
        let mut entries = Vec::new();
        for (at, element) in elements(text)?.into_iter().enumerate() {
            let schema = element.get("schema").and_then(serde_json::Value::as_u64);
            if let Some(found) = schema.filter(|found| *found > KNOWN_SCHEMA) {
                return Err(Fault::Newer(found));
            }
            let entry: Entry = serde_json::from_value(element)
                .map_err(|_| Fault::Corrupt(format!("entry {} is not a pending purge", at + 1)))?;
            if !ClusterName::parse(&entry.name).is_ok_and(|name| name.as_str() == entry.name) {
                return Err(Fault::Corrupt(format!("entry {} has a name that no cluster can have", at + 1)));
            }
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.entries).unwrap_or_default()
    }
}

impl PurgeList {
    pub fn entry(&self, name: &ClusterName) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name.as_str())
    }

    fn is_held_by(&self, name: &ClusterName, holder: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.holder == holder)
    }

    /// The entries that nobody works on now.
    pub fn idle(&self, now: Timestamp) -> impl Iterator<Item = PendingPurge> {
        self.entries.iter().filter(move |entry| entry.until <= now).filter_map(|entry| {
            Some(PendingPurge { name: ClusterName::parse(&entry.name).ok()?, since: entry.since })
        })
    }
}

/// Being the one that works on a cluster's credential.
pub(super) struct Lease {
    pub name: ClusterName,
    pub holder: String,
    taken: tokio::time::Instant,
}

impl Lease {
    pub fn new(name: ClusterName, holder: String) -> Self {
        Self { name, holder, taken: tokio::time::Instant::now() }
    }

    /// Asked before every write that the lease is for.
    pub fn check(&self) -> Result<(), RegistryError> {
        if self.taken.elapsed() < HOLD {
            Ok(())
        } else {
            Err(RegistryError::Interrupted { cluster: self.name.clone() })
        }
    }
}

/// Takes the lease, from nobody or from a holder that ran out of time.
pub(super) struct Take<'a> {
    pub lease: &'a Lease,
    pub now: Timestamp,
}

impl Change<PurgeList> for Take<'_> {
    fn apply(&self, list: &mut PurgeList) -> Result<bool, RegistryError> {
        let Lease { name, holder, .. } = self.lease;
        let found = list.entries.iter_mut().find(|entry| entry.name == name.as_str());
        let until = self.now.checked_add(LEASE).unwrap_or(Timestamp::MAX);
        match found {
            Some(entry) if entry.holder == *holder => return Ok(false),
            Some(entry) if entry.until > self.now => {
                return Err(RegistryError::Busy { cluster: name.clone() });
            }
            Some(entry) => {
                entry.holder.clone_from(holder);
                entry.until = until;
            }
            None => list.entries.push(Entry {
                name: name.to_string(),
                since: self.now,
                holder: holder.clone(),
                until,
                others: serde_json::Map::new(),
            }),
        }
        Ok(true)
    }

    fn holds(&self, list: &PurgeList) -> bool {
        list.is_held_by(&self.lease.name, &self.lease.holder)
    }
}

/// Takes the entry out: the work is done.
pub(super) struct Finish<'a>(pub &'a Lease);

impl Change<PurgeList> for Finish<'_> {
    fn apply(&self, list: &mut PurgeList) -> Result<bool, RegistryError> {
        let Lease { name, holder, .. } = self.0;
        let before = list.entries.len();
        list.entries.retain(|entry| entry.name != name.as_str() || entry.holder != *holder);
        if list.entries.len() == before {
            // Somebody took over, whatever they did or are about to do.
            return Err(RegistryError::Interrupted { cluster: name.clone() });
        }
        Ok(true)
    }

    fn holds(&self, list: &PurgeList) -> bool {
        !list.is_held_by(&self.0.name, &self.0.holder)
    }
}

/// Leaves the entry and ends the lease: somebody may go on at once.
pub(super) struct Yield<'a> {
    pub lease: &'a Lease,
    pub now: Timestamp,
}

impl Change<PurgeList> for Yield<'_> {
    fn apply(&self, list: &mut PurgeList) -> Result<bool, RegistryError> {
        let Lease { name, holder, .. } = self.lease;
        let mine = |entry: &&mut Entry| entry.name == name.as_str() && entry.holder == *holder;
        match list.entries.iter_mut().find(mine) {
            Some(entry) if entry.until > self.now => entry.until = self.now,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn holds(&self, list: &PurgeList) -> bool {
        list.entry(&self.lease.name).is_none_or(|entry| entry.until <= self.now)
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
