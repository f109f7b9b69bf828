//! The org's two shared documents (the index and the list of pending purges), changed by many desktops at once.
//!
//! Invariants:
//! - A change is applied to what is there at the moment of writing: compare-and-set, and on a conflict read, apply,
//!   write again, [`TRIES`] times with jitter. On a store without compare-and-set it is written, read back, and
//!   applied again where somebody overwrote it.
//! - A write whose answer was lost is decided by reading back, never guessed.
//! - A document that cannot be understood is never overwritten.
//! - What this session has seen once is not un-seen: an older state (from a lagging replica) is waited out or told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::RegistryError;
use tokio::time::Instant;

use super::entropy::Entropy;
use super::index::KNOWN_SCHEMA;
use crate::kms::{Cas, Expect, Kms, KmsError, SecretRef, Version};

/// How often a change is tried before others are told to be too many.
const TRIES: u32 = 5;
/// The longest pause before the second try, at least; it grows fourfold from try to try.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause of all.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A document that several writers share.
pub(super) trait Document: Default + Send {
    /// Reads it whole, or not at all.
    fn parse(text: &[u8]) -> Result<Self, Fault>;
    /// Writes it.
    fn to_json(&self) -> Vec<u8>;
}

/// Why a document cannot be understood. Texts never quote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    Corrupt(String),
    Newer(u64),
}

/// A change to a document, which can be applied to whatever state is found and recognised afterwards.
pub(super) trait Change<D>: Send + Sync {
    /// Applies it; `false` where there is nothing to change.
    fn apply(&self, document: &mut D) -> Result<bool, RegistryError>;
    /// Whether a state has it.
    fn holds(&self, document: &D) -> bool;
}

/// The documents, behind the KMS.
pub(super) struct Documents {
    kms: Arc<dyn Kms>,
    entropy: Arc<dyn Entropy>,
    /// The latest version seen of each.
    seen: Mutex<HashMap<SecretRef, Version>>,
    /// One writer at a time in this program, so that it does not compete with itself.
    writing: tokio::sync::Mutex<()>,
}

impl Documents {
    pub fn new(kms: Arc<dyn Kms>, entropy: Arc<dyn Entropy>) -> Self {
        Self { kms, entropy, seen: Mutex::default(), writing: tokio::sync::Mutex::default() }
    }

    /// The document as it is. Absent is empty.
    pub async fn load<D: Document>(&self, at: &SecretRef) -> Result<D, RegistryError> {
        Ok(self.read(at).await?.0)
    }

    /// Changes the document and returns it as it is then.
    pub async fn update<D: Document>(
        &self,
        at: &SecretRef,
        change: &(impl Change<D> + ?Sized),
    ) -> Result<D, RegistryError> {
        let failed = |source| RegistryError::kms("writing", at, source);
        let caps = self.kms.caps().await.map_err(failed)?;
        let _alone = self.writing.lock().await;
        let mut last = RegistryError::Contended { document: at.words() };
        let mut uncertain = false;
        let mut took = Duration::ZERO;
        for attempt in 0..TRIES {
            self.pause(attempt, took).await;
            let began = Instant::now();
            let (mut document, expect) = self.read::<D>(at).await?;
            if (uncertain && change.holds(&document)) || !change.apply(&mut document)? {
                return Ok(document);
            }
            let text = document.to_json();
            if text.len() > caps.max_value {
                return Err(failed(KmsError::TooLarge { size: text.len(), max: caps.max_value }));
            }
            match self.kms.put(at, &text, expect).await {
                Ok(version) => {
                    self.remember(at, version, caps.cas);
                    if caps.cas == Cas::Native {
                        return Ok(document);
                    }
                    // Another writer that read before this write may overwrite it after: look a little later.
                    self.pause_before(1).await;
                    let (found, _) = self.read::<D>(at).await?;
                    if change.holds(&found) {
                        return Ok(found);
                    }
                }
                Err(KmsError::Conflict { .. }) => {}
                Err(lost) if lost.may_have_been_applied() => match self.read::<D>(at).await {
                    Ok((found, _)) if change.holds(&found) => return Ok(found),
                    // It may still be on its way; then the next try meets a conflict and looks again.
                    Ok(_) => (uncertain, last) = (true, failed(lost)),
                    Err(_) => return Err(failed(lost)),
                },
                Err(error) => return Err(failed(error)),
            }
            took = began.elapsed();
        }
        Err(last)
    }

    /// Forgets what was seen: for the end of the session.
    pub fn clear(&self) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn read<D: Document>(&self, at: &SecretRef) -> Result<(D, Expect), RegistryError> {
        let failed = |source| RegistryError::kms("reading", at, source);
        let cas = self.kms.caps().await.map_err(failed)?.cas;
        for attempt in 0..TRIES {
            self.pause_before(attempt).await;
            let found = self.kms.get(at).await.map_err(failed)?;
            let version = found.as_ref().map(|value| value.version);
            if !self.remember(at, version.unwrap_or(Version(0)), cas) {
                continue;
            }
            let document = match &found {
                None => D::default(),
                Some(value) => D::parse(&value.bytes).map_err(|fault| match fault {
                    Fault::Corrupt(what) => RegistryError::Corrupt { document: at.words(), what },
                    Fault::Newer(found) => {
                        RegistryError::Newer { document: at.words(), found, known: KNOWN_SCHEMA }
                    }
                })?,
            };
            return Ok((document, version.map_or(Expect::Absent, Expect::Version)));
        }
        Err(RegistryError::Behind { document: at.words() })
    }

    /// Notes a version; `false` where a later one was seen before.
    fn remember(&self, at: &SecretRef, version: Version, cas: Cas) -> bool {
        if cas != Cas::Native {
            return true;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = seen.entry(at.clone()).or_insert(version);
        if version < *latest {
            return false;
        }
        *latest = version;
        true
    }

    /// No pause before the first try; then up to a limit that grows, at random.
    pub async fn pause_before(&self, attempt: u32) {
        self.pause(attempt, Duration::ZERO).await;
    }

    /// The limit also grows with what a try takes: the slower the store, the further its writers have to spread.
    async fn pause(&self, attempt: u32, took: Duration) {
        if attempt > 0 {
            let limit = FIRST_PAUSE.max(took * 2) * 4_u32.saturating_pow(attempt - 1);
            let micros = u64::try_from(limit.min(LONGEST_PAUSE).as_micros()).unwrap_or(u64::MAX);
            tokio::time::sleep(Duration::from_micros(self.entropy.next() % micros)).await;
        }
    }

    /// How often something is tried.
    pub fn tries() -> std::ops::Range<u32> {
        0..TRIES
    }
}
