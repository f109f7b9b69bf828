//! Where the one secret that outlives the app is kept: the refresh token, in the operating system's keyring.
//!
//! Invariants: nothing else is ever stored; a keyring that is absent, locked or silent is told apart and told plainly;
//! no call waits longer than [`keyring::BOUND`] or runs on a thread that the window or the network needs.
//!
//! Deliberately absent: a file. A session without a keyring ends with the app.

mod keyring;
mod memory;

use async_trait::async_trait;
use zeroize::Zeroizing;

pub use keyring::{KeyringStore, MAX_SECRET_BYTES};
pub use memory::MemoryStore;

/// Why the store did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// No keyring service runs.
    #[error("no keyring is available on this computer ({0})")]
    NoStore(String),
    /// It is there and will not open.
    #[error("the keyring is locked or refuses Muster ({0})")]
    Denied(String),
    /// It did not answer in time.
    #[error("the keyring did not answer within {0} seconds")]
    Silent(u64),
    /// The secret is larger than every platform's keyring takes.
    #[error("the session has {size} bytes, and a keyring entry holds at most {max}")]
    TooLarge {
        /// Its size.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// What is stored is not what Muster wrote.
    #[error("the keyring entry cannot be used ({0})")]
    Unusable(String),
}

impl SecretError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoStore(_) => "keyring_absent",
            Self::Denied(_) => "keyring_denied",
            Self::Silent(_) => "keyring_silent",
            Self::TooLarge { .. } => "keyring_too_small",
            Self::Unusable(_) => "keyring_unusable",
        }
    }
}

/// Keeps one small secret for each account name.
#[async_trait]
pub trait SecretStore: Send + Sync {
    /// Whether a secret could be kept, found out before the browser is opened.
    async fn probe(&self) -> Result<(), SecretError>;

    /// The secret, or `None` where there is none.
    async fn get(&self, account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError>;

    /// Keeps a secret, in place of an older one.
    async fn set(&self, account: &str, secret: &[u8]) -> Result<(), SecretError>;

    /// Forgets a secret; one that is not there is no error.
    async fn delete(&self, account: &str) -> Result<(), SecretError>;
}
