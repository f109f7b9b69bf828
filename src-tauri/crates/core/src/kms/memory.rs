//! A KMS in memory, for tests: several orgs, versions that stay readable until they are purged, compare-and-set or
//! none, and faults on order.
//!
//! Compiled for tests and under the feature `test-support` only. It answers like the real ones in what the registry
//! relies on; that they do is held by the contract tests under `tests/kms`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::{
    Caps, Cas, Expect, Kms, KmsError, KmsIdentity, PurgeReach, Purged, SecretRef, Version, Versioned,
};
use crate::tenant::Org;

/// What is done to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// [`Kms::get`].
    Get,
    /// [`Kms::put`].
    Put,
    /// [`Kms::purge`].
    Purge,
}

/// What goes wrong with a call.
#[derive(Clone)]
pub enum Fault {
    /// It is not carried out.
    Refuse(KmsError),
    /// It is carried out, and the caller is told this instead.
    LoseAnswer(KmsError),
    /// The caller is told this, and a write is carried out only at [`MemoryStore::deliver_late`].
    Late(KmsError),
    /// A read is answered from the state before the newest version.
    Lag,
    /// It waits until [`Pause::resume`], and is carried out then.
    Wait(Arc<Pause>),
}

/// A call that is held up.
pub struct Pause {
    reached: Semaphore,
    resumed: Semaphore,
}

impl Pause {
    /// A new one.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self { reached: Semaphore::new(0), resumed: Semaphore::new(0) })
    }

    /// Returns once the call has come to where it waits.
    pub async fn reached(&self) {
        let _ = self.reached.acquire().await.map(tokio::sync::SemaphorePermit::forget);
    }

    /// Lets the call go on.
    pub fn resume(&self) {
        self.resumed.add_permits(1);
    }

    /// Waits here until [`Pause::resume`], and tells [`Pause::reached`].
    pub async fn hold(&self) {
        self.reached.add_permits(1);
        let _ = self.resumed.acquire().await.map(tokio::sync::SemaphorePermit::forget);
    }
}

#[derive(Default)]
struct Inner {
    /// All versions of each document, oldest first; none is taken out but by a purge.
    documents: BTreeMap<String, Vec<Vec<u8>>>,
    faults: VecDeque<(Verb, String, Fault)>,
    calls: Vec<(Verb, String)>,
    late: Vec<Late>,
}

/// A write that is still on its way.
enum Late {
    Put(String, Vec<u8>, Expect),
    Purge(String),
}

impl Inner {
    fn put(&mut self, path: &str, value: &[u8], expect: Expect, cas: Cas) -> Result<Version, KmsError> {
        let versions = self.documents.get(path).map(Vec::as_slice).unwrap_or_default();
        let current = (!versions.is_empty()).then(|| version_of(versions, cas));
        let wanted = match expect {
            Expect::Absent => None,
            Expect::Version(version) => Some(version),
            Expect::Any => current,
        };
        if current != wanted {
            return Err(KmsError::Conflict { current });
        }
        let versions = self.documents.entry(path.to_owned()).or_default();
        versions.push(value.to_vec());
        Ok(version_of(versions, cas))
    }
}

/// The store behind the sessions of all orgs, as its operator sees it.
pub struct MemoryStore {
    inner: Mutex<Inner>,
    caps: Caps,
}

impl MemoryStore {
    /// A store with compare-and-set and 400 KiB for a value.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Self::with_caps(Caps { max_value: 400 * 1024, cas: Cas::Native, purge: PurgeReach::AllVersions })
    }

    /// A store that can do this much.
    #[must_use]
    pub fn with_caps(caps: Caps) -> Arc<Self> {
        Arc::new(Self { inner: Mutex::default(), caps })
    }

    /// A person's session in an org.
    #[must_use]
    pub fn session(self: &Arc<Self>, org: &Org) -> Arc<MemoryKms> {
        Arc::new(MemoryKms { store: Arc::clone(self), org: org.clone(), closed: AtomicBool::new(false) })
    }

    /// Writes as the operator.
    pub fn plant(&self, at: &SecretRef, bytes: &[u8]) {
        self.lock().documents.entry(at.to_string()).or_default().push(bytes.to_vec());
    }

    /// The newest version, read as the operator.
    #[must_use]
    pub fn newest(&self, at: &SecretRef) -> Option<Vec<u8>> {
        self.lock().documents.get(&at.to_string()).and_then(|versions| versions.last().cloned())
    }

    /// Every version that anybody could still read.
    #[must_use]
    pub fn versions(&self, at: &SecretRef) -> Vec<Vec<u8>> {
        self.lock().documents.get(&at.to_string()).cloned().unwrap_or_default()
    }

    /// Every path at which something lies.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.lock().documents.keys().cloned().collect()
    }

    /// Orders a fault for the next call of this kind. Several for the same kind come one after the other.
    pub fn fail_next(&self, verb: Verb, at: &SecretRef, fault: Fault) {
        self.lock().faults.push_back((verb, at.to_string(), fault));
    }

    /// Carries out what is still on its way.
    pub fn deliver_late(&self) {
        let mut inner = self.lock();
        for late in std::mem::take(&mut inner.late) {
            match late {
                Late::Put(path, value, expect) => {
                    let _ = inner.put(&path, &value, expect, self.caps.cas);
                }
                Late::Purge(path) => {
                    inner.documents.remove(&path);
                }
            }
        }
    }

    /// Every call so far.
    #[must_use]
    pub fn calls(&self) -> Vec<(Verb, String)> {
        self.lock().calls.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the call and takes the fault that was ordered for it.
    async fn begin(&self, verb: Verb, at: &SecretRef) -> Result<Option<Fault>, KmsError> {
        // Others may come in between, as over a network.
        tokio::task::yield_now().await;
        let fault = {
            let mut inner = self.lock();
            inner.calls.push((verb, at.to_string()));
            let path = at.to_string();
            let ordered = inner.faults.iter().position(|(on, where_, _)| *on == verb && *where_ == path);
            ordered.and_then(|position| inner.faults.remove(position)).map(|(_, _, fault)| fault)
        };
        match fault {
            Some(Fault::Refuse(error)) => Err(error),
            Some(Fault::Wait(pause)) => {
                pause.hold().await;
                Ok(None)
            }
            other => Ok(other),
        }
    }
}

/// One session with the store.
pub struct MemoryKms {
    store: Arc<MemoryStore>,
    org: Org,
    closed: AtomicBool,
}

impl MemoryKms {
    fn ensure_mine(&self, at: &SecretRef) -> Result<(), KmsError> {
        self.ensure_open()?;
        if at.org() == &self.org {
            Ok(())
        } else {
            Err(KmsError::WrongOrg { named: at.org().to_string(), expected: self.org.clone() })
        }
    }

    fn ensure_open(&self) -> Result<(), KmsError> {
        if self.closed.load(Ordering::SeqCst) { Err(KmsError::Closed) } else { Ok(()) }
    }
}

fn told<T>(fault: Option<Fault>, outcome: T) -> Result<T, KmsError> {
    match fault {
        Some(Fault::LoseAnswer(error)) => Err(error),
        _ => Ok(outcome),
    }
}

fn version_of(versions: &[Vec<u8>], cas: Cas) -> Version {
    match cas {
        Cas::Native => Version(versions.len() as u64),
        Cas::Verify => Version(versions.last().map_or(0, |bytes| {
            bytes.iter().fold(1, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)))
        })),
    }
}

#[async_trait]
impl Kms for MemoryKms {
    async fn get(&self, at: &SecretRef) -> Result<Option<Versioned>, KmsError> {
        self.ensure_mine(at)?;
        let fault = self.store.begin(Verb::Get, at).await?;
        let found = {
            let inner = self.store.lock();
            let versions = inner.documents.get(&at.to_string()).map(Vec::as_slice).unwrap_or_default();
            let shown = match fault {
                Some(Fault::Lag) => versions.len().saturating_sub(1),
                _ => versions.len(),
            };
            let versions = versions.get(..shown).unwrap_or_default();
            versions.last().map(|bytes| Versioned {
                bytes: Zeroizing::new(bytes.clone()),
                version: version_of(versions, self.store.caps.cas),
            })
        };
        self.ensure_open()?;
        told(fault, found)
    }

    async fn put(&self, at: &SecretRef, value: &[u8], expect: Expect) -> Result<Version, KmsError> {
        self.ensure_mine(at)?;
        let max = self.store.caps.max_value;
        if value.len() > max {
            return Err(KmsError::TooLarge { size: value.len(), max });
        }
        let fault = self.store.begin(Verb::Put, at).await?;
        let mut inner = self.store.lock();
        if let Some(Fault::Late(error)) = fault {
            inner.late.push(Late::Put(at.to_string(), value.to_vec(), expect));
            return Err(error);
        }
        let version = inner.put(&at.to_string(), value, expect, self.store.caps.cas)?;
        told(fault, version)
    }

    async fn purge(&self, at: &SecretRef) -> Result<Purged, KmsError> {
        self.ensure_mine(at)?;
        let fault = self.store.begin(Verb::Purge, at).await?;
        let mut inner = self.store.lock();
        if let Some(Fault::Late(error)) = fault {
            inner.late.push(Late::Purge(at.to_string()));
            return Err(error);
        }
        let before = inner.documents.remove(&at.to_string());
        told(fault, if before.is_some() { Purged::Gone } else { Purged::WasAbsent })
    }

    async fn whoami(&self) -> Result<KmsIdentity, KmsError> {
        self.ensure_open()?;
        Ok(KmsIdentity {
            org: self.org.clone(),
            subject: "test".into(),
            expires: None,
            can_write: Some(true),
        })
    }

    async fn caps(&self) -> Result<Caps, KmsError> {
        self.ensure_open()?;
        Ok(self.store.caps)
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }
}
