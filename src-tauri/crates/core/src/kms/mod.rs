//! The organisation's key management service: where the cluster index and the sealed kubeconfigs live.
//!
//! Invariants: a [`SecretRef`] is built from a verified org and a checked cluster name, never from a string, so no
//! caller can name another org's material; "absent" is `Ok(None)` and nothing else is.
//!
//! Deliberately absent: listing. The index is the list.

mod error;
#[cfg(any(test, feature = "test-support"))]
pub mod memory;
mod secret_ref;
pub mod vault;
mod wipe;

use async_trait::async_trait;
use jiff::Timestamp;
use zeroize::Zeroizing;

pub use error::KmsError;
pub use secret_ref::SecretRef;

use crate::tenant::Org;

/// A value read from the KMS. The bytes are wiped when dropped.
pub type SecretBytes = Zeroizing<Vec<u8>>;

/// A value with the version the store gave it.
pub struct Versioned {
    /// The value.
    pub bytes: SecretBytes,
    /// The store's version, for compare-and-set.
    pub version: Version,
}

/// What a store calls one state of one document. Stores with [`Cas::Native`] number them upwards; for others it is a
/// fingerprint, good for "is it still the same" only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing there: create only.
    Absent,
    /// Exactly this version.
    Version(Version),
    /// Whatever is there.
    Any,
}

/// The outcome of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// Every version is destroyed.
    Gone,
    /// There was nothing.
    WasAbsent,
}

/// Who the KMS takes the session for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KmsIdentity {
    /// The org that the KMS names. Equal to the session's org, or the login was refused.
    pub org: Org,
    /// The name the KMS shows for the person in its audit log.
    pub subject: String,
    /// When the present KMS token ends, if it does.
    pub expires: Option<Timestamp>,
    /// Whether the person may write the org's index; `None` where the KMS did not say.
    pub can_write: Option<bool>,
}

/// How far a store helps against two writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cas {
    /// The store compares and sets in one step: [`Expect`] is honoured exactly.
    Native,
    /// The store cannot; [`Expect`] is checked just before the write. The caller reads back and merges again, and a
    /// small window stays.
    Verify,
}

/// How final a purge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeReach {
    /// Every version is gone at once.
    AllVersions,
    /// The store keeps a way back for this many days.
    AfterDays(u16),
}

/// What a store can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// The largest value in bytes.
    pub max_value: usize,
    /// Compare-and-set.
    pub cas: Cas,
    /// Purging.
    pub purge: PurgeReach,
}

/// One org's documents in its KMS. An implementation belongs to one session of one org and refuses refs of another.
///
/// Every call ends within the implementation's own deadline; none retries a write by itself.
#[async_trait]
pub trait Kms: Send + Sync {
    /// The newest value, or `None` where there is none. A KMS that cannot be asked, a wrong mount and a denial are
    /// errors, never `None`: an outage must not look like an org without clusters.
    async fn get(&self, at: &SecretRef) -> Result<Option<Versioned>, KmsError>;

    /// Writes UTF-8 text and returns its version.
    ///
    /// # Errors
    /// [`KmsError::Conflict`] where `expect` does not hold. Where [`KmsError::may_have_been_applied`], only reading
    /// back tells.
    async fn put(&self, at: &SecretRef, value: &[u8], expect: Expect) -> Result<Version, KmsError>;

    /// Destroys every version. Purging what is absent succeeds.
    async fn purge(&self, at: &SecretRef) -> Result<Purged, KmsError>;

    /// Who the KMS takes the session for, asked afresh.
    async fn whoami(&self) -> Result<KmsIdentity, KmsError>;

    /// What the store behind this session can do. Asked once and remembered.
    async fn caps(&self) -> Result<Caps, KmsError>;

    /// Ends the session: the KMS token is revoked (best effort) and wiped, and every later call is
    /// [`KmsError::Closed`].
    async fn close(&self);
}

/// The bearer token that a KMS login presents: fresh at each call, refreshed by whoever implements this.
#[async_trait]
pub trait IdentityTokens: Send + Sync {
    /// A token that is valid for at least the next minute.
    async fn current(&self) -> Result<Zeroizing<String>, KmsError>;
}
