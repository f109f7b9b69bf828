//! The fleet of one session: the registered clusters and the last reading of each.
//!
//! Invariants: clusters are read side by side and each on its own, so that a dead one delays nobody; a reading that
//! fails leaves the older one in place, with its age and the reason; a reading of a registration that has changed
//! meanwhile is thrown away; when the [`Fleet`] is dropped, every read under way is cancelled.
//!
//! Deliberately absent: schedules. Whoever looks asks for a refresh.

mod reading;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jiff::Timestamp;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub use reading::{ClusterReading, Reached, observe};

use crate::clock::Clock;
use crate::connect::ReadError;
use crate::registry::{ClusterName, PendingPurge, Record, Registry, RegistryError};
use crate::tenant::Tenant;

/// Clusters that are read at the same moment. A dead one holds its place for its connect budget only.
const READ_AT_ONCE: usize = 16;

/// One registered cluster with its last reading.
#[derive(Clone)]
pub struct Member {
    /// The registration.
    pub record: Record,
    /// The last reading that came to something.
    pub reading: Option<Arc<ClusterReading>>,
    /// Why the newest reading failed; `reading` is then from before.
    pub error: Option<Arc<RegistryError>>,
    /// Whether a reading is under way.
    pub refreshing: bool,
}

/// The fleet at one moment.
#[derive(Clone)]
pub struct Snapshot {
    /// When the index was read.
    pub index_observed_at: Timestamp,
    /// Why the newest read of the index failed.
    pub index_error: Option<Arc<RegistryError>>,
    /// The clusters by name.
    pub members: Vec<Member>,
    /// Purges that did not come to their end.
    pub pending_purges: Vec<PendingPurge>,
}

/// The fleet of one session.
pub struct Fleet {
    registry: Arc<Registry>,
    tenant: Tenant,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    places: Semaphore,
    tasks: Mutex<JoinSet<()>>,
    /// For the tasks, which must not keep the fleet alive.
    myself: Weak<Fleet>,
}

struct State {
    index_observed_at: Timestamp,
    index_error: Option<Arc<RegistryError>>,
    members: BTreeMap<ClusterName, Member>,
    pending_purges: Vec<PendingPurge>,
}

impl Fleet {
    /// An empty fleet; nothing is read yet.
    pub fn new(registry: Arc<Registry>, tenant: Tenant, clock: Arc<dyn Clock>) -> Arc<Self> {
        let state = State {
            index_observed_at: clock.now(),
            index_error: None,
            members: BTreeMap::new(),
            pending_purges: Vec::new(),
        };
        Arc::new_cyclic(|myself| Self {
            registry,
            tenant,
            clock,
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            places: Semaphore::new(READ_AT_ONCE),
            tasks: Mutex::default(),
            myself: myself.clone(),
        })
    }

    /// Counts up at every change.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The registry behind it.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Whose fleet it is.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The fleet as it is known now.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.state();
        Snapshot {
            index_observed_at: state.index_observed_at,
            index_error: state.index_error.clone(),
            members: state.members.values().cloned().collect(),
            pending_purges: state.pending_purges.clone(),
        }
    }

    /// One cluster as it is known now.
    pub fn member(&self, name: &str) -> Option<Member> {
        let name = ClusterName::parse(name).ok()?;
        self.state().members.get(&name).cloned()
    }

    /// Reads the index again. An older one stays where that fails.
    ///
    /// # Errors
    /// Where the KMS did not answer.
    pub async fn reload(&self) -> Result<(), Arc<RegistryError>> {
        let listed = self.registry.list(&self.tenant).await;
        let pending = self.registry.pending_purges(&self.tenant).await;
        let outcome = {
            let mut state = self.state();
            if let Ok(pending) = pending {
                state.pending_purges = pending;
            }
            match listed {
                Ok(records) => {
                    state.index_observed_at = self.clock.now();
                    state.index_error = None;
                    let mut old = std::mem::take(&mut state.members);
                    state.members = records
                        .into_iter()
                        .map(|record| (record.name.clone(), member(record, &mut old)))
                        .collect();
                    Ok(())
                }
                Err(error) => {
                    let error = Arc::new(error);
                    state.index_error = Some(Arc::clone(&error));
                    Err(error)
                }
            }
        };
        self.announce();
        outcome
    }

    /// Begins to read one cluster, or all of them, where that is not under way already. Returns at once.
    pub fn refresh(&self, only: Option<&str>) {
        let names: Vec<ClusterName> = {
            let mut state = self.state();
            let wanted = |name: &ClusterName| only.is_none_or(|only| name.as_str() == only);
            state
                .members
                .iter_mut()
                .filter(|(name, member)| wanted(name) && !member.refreshing)
                .map(|(name, member)| {
                    member.refreshing = true;
                    name.clone()
                })
                .collect()
        };
        if names.is_empty() {
            return;
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        for name in names {
            let myself = Weak::clone(&self.myself);
            tasks.spawn(async move {
                if let Some(fleet) = myself.upgrade() {
                    fleet.read(&name).await;
                }
            });
        }
        drop(tasks);
        self.announce();
    }

    async fn read(&self, name: &ClusterName) {
        // The semaphore lives as long as the fleet and is never closed.
        let Ok(_place) = self.places.acquire().await else { return };
        let reached = self.registry.reach(&self.tenant, name.as_str()).await;
        let outcome = match reached {
            Ok(bound) => {
                let reading = observe(&bound, &*self.clock).await;
                let reached = Reached { record: bound.record().clone(), reading };
                // A credential that stopped working may have been rotated by a colleague: fetch it anew next time.
                if reached.reading.is_unauthorized() {
                    self.registry.drop_client(&bound);
                }
                Ok(reached)
            }
            Err(error) => Err(error),
        };
        self.record(name, outcome);
        self.announce();
    }

    fn record(&self, name: &ClusterName, outcome: Result<Reached, RegistryError>) {
        let mut state = self.state();
        let Some(member) = state.members.get_mut(name) else { return };
        member.refreshing = false;
        match outcome {
            Ok(reached) => {
                member.record = reached.record;
                match reached.reading.failure() {
                    Some(failure) if member.reading.is_some() => {
                        member.error = Some(Arc::new(failed(name, failure)));
                    }
                    failure => {
                        member.error = failure.map(|failure| Arc::new(failed(name, failure)));
                        member.reading = member.error.is_none().then(|| Arc::new(reached.reading));
                    }
                }
            }
            Err(error) => member.error = Some(Arc::new(error)),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

/// A record of the index with what is known of it. A registration that was renewed keeps nothing of the older one.
fn member(record: Record, old: &mut BTreeMap<ClusterName, Member>) -> Member {
    match old.remove(&record.name) {
        Some(known) if known.record.registered == record.registered && known.record.bound == record.bound => {
            Member { record, ..known }
        }
        _ => Member { record, reading: None, error: None, refreshing: false },
    }
}

fn failed(cluster: &ClusterName, failure: &ReadError) -> RegistryError {
    RegistryError::Cluster { cluster: cluster.clone(), failure: failure.clone() }
}
