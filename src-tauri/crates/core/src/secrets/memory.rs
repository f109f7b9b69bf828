//! A store that ends with the app, for tests and for the demo org, whose servers end with the app as well.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use zeroize::Zeroizing;

use super::{SecretError, SecretStore};

/// Keeps secrets in this process's memory.
#[derive(Default)]
pub struct MemoryStore {
    secrets: Mutex<BTreeMap<String, Zeroizing<Vec<u8>>>>,
}

#[async_trait]
impl SecretStore for MemoryStore {
    async fn probe(&self) -> Result<(), SecretError> {
        Ok(())
    }

    async fn get(&self, account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
        Ok(self.secrets.lock().unwrap_or_else(PoisonError::into_inner).get(account).cloned())
    }

    async fn set(&self, account: &str, secret: &[u8]) -> Result<(), SecretError> {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.insert(account.to_owned(), Zeroizing::new(secret.to_vec()));
        Ok(())
    }

    async fn delete(&self, account: &str) -> Result<(), SecretError> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).remove(account);
        Ok(())
    }
}
