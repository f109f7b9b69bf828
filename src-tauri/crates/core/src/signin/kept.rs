//! What the keyring keeps of a session: one compact secret, for one issuer and client.
//!
//! Invariant: nothing but the refresh token and whose it is. Deliberately absent: access and id tokens (they would not
//! fit everywhere, and they end by themselves), and the chosen org.

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::deployment::Deployment;
use crate::secrets::{SecretError, SecretStore};

/// A kept session.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct Kept {
    issuer: String,
    client_id: String,
    /// Whose it is.
    pub sub: String,
    /// The refresh token.
    pub refresh_token: String,
}

/// The keyring account of a deployment's session.
pub fn account(deployment: &Deployment) -> String {
    format!("{}|{}", deployment.issuer_text(), deployment.client_id)
}

/// Keeps a session in place of an older one.
///
/// # Errors
/// The store's.
pub async fn write(
    store: &dyn SecretStore,
    deployment: &Deployment,
    sub: &str,
    refresh_token: &str,
) -> Result<(), SecretError> {
    let kept = Kept {
        issuer: deployment.issuer_text().to_owned(),
        client_id: deployment.client_id.clone(),
        sub: sub.to_owned(),
        refresh_token: refresh_token.to_owned(),
    };
    // Room for the whole from the start: a buffer that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(2 * (refresh_token.len() + sub.len()) + 1024));
    serde_json::to_writer(&mut *bytes, &kept).map_err(|error| SecretError::Unusable(error.to_string()))?;
    store.set(&account(deployment), &bytes).await
}

/// The kept session of this deployment; an entry that Muster did not write for it is none.
///
/// # Errors
/// The store's.
pub async fn read(store: &dyn SecretStore, deployment: &Deployment) -> Result<Option<Kept>, SecretError> {
    let Some(bytes) = store.get(&account(deployment)).await? else { return Ok(None) };
    let kept: Option<Kept> = serde_json::from_slice(&bytes).ok();
    Ok(kept.filter(|kept| {
        kept.issuer == deployment.issuer_text()
            && kept.client_id == deployment.client_id
            && !kept.sub.is_empty()
            && !kept.refresh_token.is_empty()
    }))
}

/// Forgets the kept session.
///
/// # Errors
/// The store's.
pub async fn forget(store: &dyn SecretStore, deployment: &Deployment) -> Result<(), SecretError> {
    store.delete(&account(deployment)).await
}
