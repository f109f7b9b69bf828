//! The operating system's keyring: macOS Keychain, Windows Credential Manager, the Secret Service on Linux.
//!
//! Invariant: each call runs on a thread of its own that nobody joins, since a keyring may wait for a person or for a
//! service that never answers (two minutes of D-Bus activation are common), and a blocked pool would hold the app's
//! exit. Deliberately absent: retries. The person sees what the keyring said.

use std::time::Duration;

use async_trait::async_trait;
use keyring::{Entry, Error};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::{SecretError, SecretStore};

/// How long a call may take.
pub const BOUND: Duration = Duration::from_secs(5);

/// Windows' `CRED_MAX_CREDENTIAL_BLOB_SIZE`, the smallest limit of the three platforms, in bytes.
pub const MAX_SECRET_BYTES: usize = 2560;

/// The account that [`SecretStore::probe`] writes and removes.
const PROBE_ACCOUNT: &str = "probe";

/// Entries of one service name in the system's keyring.
pub struct KeyringStore {
    service: String,
}

impl KeyringStore {
    /// Entries under this service name.
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into() }
    }

    async fn call<T: Send + 'static>(
        &self,
        account: &str,
        ask: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, SecretError> {
        let (answer, answered) = oneshot::channel();
        let (service, account) = (self.service.clone(), account.to_owned());
        let spawned = std::thread::Builder::new().name("keyring".into()).spawn(move || {
            // Whoever asked may have stopped waiting; then the answer is dropped.
            let _ = answer.send(Entry::new(&service, &account).and_then(|entry| ask(&entry)));
        });
        if let Err(error) = spawned {
            return Err(SecretError::NoStore(error.to_string()));
        }
        match tokio::time::timeout(BOUND, answered).await {
            Ok(Ok(answer)) => answer.map_err(in_words),
            Ok(Err(_)) => Err(SecretError::Unusable("its library failed".into())),
            Err(_) => Err(SecretError::Silent(BOUND.as_secs())),
        }
    }
}

/// The platform's own text is shown (it names the missing service); it never holds the secret.
fn in_words(error: Error) -> SecretError {
    match error {
        Error::NoDefaultStore | Error::NotSupportedByStore(_) => SecretError::NoStore(error.to_string()),
        Error::NoStorageAccess(_) | Error::PlatformFailure(_) => SecretError::Denied(error.to_string()),
        Error::TooLong(what, max) => {
            SecretError::Unusable(format!("its {what} is longer than the {max} characters that it takes"))
        }
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            SecretError::Unusable("it holds something else".into())
        }
        Error::Ambiguous(_) => SecretError::Unusable("there are several".into()),
        other => SecretError::Unusable(other.to_string()),
    }
}

#[async_trait]
impl SecretStore for KeyringStore {
    /// Writes: a locked keyring answers that there is nothing when it is only read.
    async fn probe(&self) -> Result<(), SecretError> {
        self.set(PROBE_ACCOUNT, b"probe").await?;
        self.delete(PROBE_ACCOUNT).await
    }

    async fn get(&self, account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
        self.call(account, |entry| match entry.get_secret() {
            Ok(secret) => Ok(Some(Zeroizing::new(secret))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    async fn set(&self, account: &str, secret: &[u8]) -> Result<(), SecretError> {
        if secret.len() > MAX_SECRET_BYTES {
            return Err(SecretError::TooLarge { size: secret.len(), max: MAX_SECRET_BYTES });
        }
        let secret = Zeroizing::new(secret.to_vec());
        self.call(account, move |entry| entry.set_secret(&secret)).await
    }

    async fn delete(&self, account: &str) -> Result<(), SecretError> {
        self.call(account, |entry| match entry.delete_credential() {
            Err(Error::NoEntry) => Ok(()),
            other => other,
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_secret_that_some_platform_could_not_hold_is_refused_before_the_keyring_is_asked() {
        let refused = KeyringStore::new("muster-test").set("a", &[0; MAX_SECRET_BYTES + 1]).await;
        assert_eq!(refused, Err(SecretError::TooLarge { size: 2561, max: 2560 }));
    }
}
