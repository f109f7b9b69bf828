//! The org's list of unfinished work, at `orgs/<org>/k8s/purge`: credentials that have to be purged unless the index
//! has a row for them.
//!
//! An entry is written before a credential is sealed or a row is removed, and taken out when that is finished. So
//! there is no moment in which a credential lies in the KMS without a row or an entry, whoever is killed when. An entry
//! is also a lease: whoever holds it is the only one that registers or removes that cluster; after [`LEASE`] others may
//! take it over. Who takes over does not trust the entry but the index: with a row, the entry is void; without, the
//! credential is purged.
//!
//! A request that was given up may still arrive. A seal that does would lie there without a row: the entry stays until
//! none can arrive any more, even when a registration or a purge succeeded meanwhile. A purge that does would destroy
//! what was sealed anew, and a seal that does after a purge, when the KMS counts versions from one again, could replace
//! it: until then the name cannot be registered.
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
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub name: String,
    pub since: Timestamp,
    /// Who works on it; nobody where empty.
    pub holder: String,
    /// Until when the holder is waited for, and the entry left alone by those who only clear up.
    pub until: Timestamp,
    /// Until when a seal that was given up may still arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal_until: Option<Timestamp>,
    /// Until when something may still arrive that would harm a credential sealed now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_seal_until: Option<Timestamp>,
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

impl Entry {
    /// Nobody works on it any more; others may go on, each as far as what may still arrive lets them.
    fn let_go(&mut self, now: Timestamp) {
        self.holder.clear();
        self.until = self.quiet_until(now);
    }

    /// When nothing can arrive any more.
    fn quiet_until(&self, now: Timestamp) -> Timestamp {
        self.seal_until.max(self.no_seal_until).map_or(now, |until| until.max(now))
    }
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

/// What a lease is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Register,
    Remove,
}

/// Takes the lease, from nobody or from a holder that ran out of time.
pub(super) struct Take<'a> {
    pub lease: &'a Lease,
    pub purpose: Purpose,
    pub now: Timestamp,
}

impl Change<PurgeList> for Take<'_> {
    fn apply(&self, list: &mut PurgeList) -> Result<bool, RegistryError> {
        let Lease { name, holder, .. } = self.lease;
        let until = self.now.checked_add(LEASE).unwrap_or(Timestamp::MAX);
        let Some(entry) = list.entries.iter_mut().find(|entry| entry.name == name.as_str()) else {
            list.entries.push(Entry {
                name: name.to_string(),
                since: self.now,
                holder: holder.clone(),
                until,
                seal_until: None,
                no_seal_until: None,
                others: serde_json::Map::new(),
            });
            return Ok(true);
        };
        if entry.holder == *holder {
            return Ok(false);
        }
        let held = !entry.holder.is_empty() && entry.until > self.now;
        let harmful = entry.no_seal_until.is_some_and(|until| until > self.now);
        if held || (harmful && self.purpose == Purpose::Register) {
            return Err(RegistryError::Busy { cluster: name.clone() });
        }
        entry.holder.clone_from(holder);
        entry.until = until;
        Ok(true)
    }

    fn holds(&self, list: &PurgeList) -> bool {
        list.is_held_by(&self.lease.name, &self.lease.holder)
    }
}

/// How the work on an entry ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// There is a row: nothing is owed. The entry stays for as long as something may still arrive.
    Registered,
    /// The credential is purged. The entry stays for as long as something may still arrive.
    Purged,
    /// It failed; the entry stays.
    Failed,
    /// It failed, and the seal may still arrive.
    SealUnknown,
    /// It failed, and the purge may still arrive.
    PurgeUnknown,
}

/// Gives the lease back.
pub(super) struct Release<'a> {
    pub lease: &'a Lease,
    pub ended: Ended,
    pub now: Timestamp,
}

impl Change<PurgeList> for Release<'_> {
    fn apply(&self, list: &mut PurgeList) -> Result<bool, RegistryError> {
        let Lease { name, holder, .. } = self.lease;
        let mine = |entry: &Entry| entry.name == name.as_str() && entry.holder == *holder;
        let Some(at) = list.entries.iter().position(mine) else {
            // Somebody took over, whatever they did or are about to do.
            return Err(RegistryError::Interrupted { cluster: name.clone() });
        };
        let later = self.now.checked_add(LEASE).unwrap_or(Timestamp::MAX);
        let entry = &mut list.entries[at];
        match self.ended {
            Ended::Registered | Ended::Failed => {}
            Ended::Purged => entry.no_seal_until = entry.no_seal_until.max(entry.seal_until),
            Ended::SealUnknown => entry.seal_until = Some(later),
            Ended::PurgeUnknown => entry.no_seal_until = Some(later),
        }
        let finished = matches!(self.ended, Ended::Registered | Ended::Purged);
        if finished && entry.quiet_until(self.now) <= self.now {
            list.entries.remove(at);
        } else {
            entry.let_go(self.now);
        }
        Ok(true)
    }

    fn holds(&self, list: &PurgeList) -> bool {
        !list.is_held_by(&self.lease.name, &self.lease.holder)
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
