//! Vault and OpenBao as the org's KMS: the KV engine (version 2, or 1) behind JWT sign-in.
//!
//! Invariants: the client belongs to one org and refuses refs of another before anything is sent; what the KMS says
//! the person's org is must be that org; redirects are never followed; every call ends within its deadline.
//!
//! Recommended on the server: one role and one fixed policy per org (`role = "muster-{org}"`, `bound_claims` on the
//! org). A templated policy hangs on the identity's metadata, which the last login overwrites: two windows of one
//! person in two orgs would swap tenants. `max_versions = 1` on the mount drops a rotated credential at once.
//! What a role needs, for the org `ORG` and the mount `MOUNT`:
//!
//! ```text
//! path "MOUNT/data/orgs/ORG/k8s/*"     { capabilities = ["create", "read", "update"] }
//! path "MOUNT/metadata/orgs/ORG/k8s/*" { capabilities = ["read", "delete"] }
//! ```
//!
//! Deliberately absent: the browser sign-in that Vault offers itself, wrapping tokens, control groups.

mod answers;
mod config;
mod kv;
mod session;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use serde::Serialize;
use tokio::sync::OnceCell;

pub use config::VaultConfig;

use super::{
    Caps, Cas, Expect, IdentityTokens, Kms, KmsError, KmsIdentity, PurgeReach, Purged, SecretRef, Version,
    Versioned,
};
use crate::clock::Clock;
use crate::kubeconfig::printable;
use crate::tenant::Org;
use answers::{LookupBody, decode, fault};
use kv::{Engine, Kv};
use session::Session;
use transport::{Body, CALL_DEADLINE, Transport};

/// The largest value that is written, in bytes. An entry of the smallest storage in use (Consul) holds 512 KiB, and a
/// value grows when it is written as JSON and sealed.
pub const MAX_VALUE: usize = 400 * 1024;

/// One org's documents in a Vault or OpenBao server. Nothing is sent before the first call.
pub struct Vault {
    session: Session,
    mount: String,
    engine: OnceCell<Engine>,
}

impl Vault {
    /// A client for this org, which logs in with `identity` when it is first needed.
    ///
    /// # Errors
    /// [`KmsError::Misconfigured`] names the setting that cannot be used.
    pub fn new(
        config: &VaultConfig,
        org: Org,
        identity: Arc<dyn IdentityTokens>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, KmsError> {
        Self::with_deadline(config, org, identity, clock, CALL_DEADLINE)
    }

    /// The same with another limit on each call.
    ///
    /// # Errors
    /// As [`Vault::new`].
    pub fn with_deadline(
        config: &VaultConfig,
        org: Org,
        identity: Arc<dyn IdentityTokens>,
        clock: Arc<dyn Clock>,
        deadline: Duration,
    ) -> Result<Self, KmsError> {
        let transport = Transport::new(config, deadline)?;
        let session = Session::new(config, transport, org, identity, clock);
        Ok(Self { session, mount: config.mount.clone(), engine: OnceCell::new() })
    }

    async fn engine(&self) -> Result<Engine, KmsError> {
        self.engine.get_or_try_init(|| Engine::detect(&self.session, &self.mount)).await.copied()
    }

    /// The engine, for a ref that is this org's.
    async fn kv(&self, at: &SecretRef) -> Result<Kv<'_>, KmsError> {
        let org = self.session.org();
        if at.org() != org {
            return Err(KmsError::WrongOrg { named: at.org().to_string(), expected: org.clone() });
        }
        Ok(Kv { session: &self.session, mount: &self.mount, engine: self.engine().await? })
    }

    /// Whether the person may write the org's index, where the server says.
    async fn can_write(&self) -> Option<bool> {
        let index = SecretRef::index(self.session.org());
        let path = match self.engine().await.ok()? {
            Engine::V1 => format!("{}/{index}", self.mount),
            Engine::V2 => format!("{}/data/{index}", self.mount),
        };
        let body = Body::json(&Capabilities { paths: [&path] }, 128).ok()?;
        let answer = self.session.send(Method::POST, "sys/capabilities-self", Some(body)).await.ok()?;
        let answer: serde_json::Value = serde_json::from_slice(&answer.body).ok()?;
        let granted = answer.get("data")?.get(&path)?.as_array()?;
        let has = |capability: &str| granted.iter().any(|granted| granted == capability);
        Some(has("root") || (has("create") && has("update")))
    }
}

#[derive(Serialize)]
struct Capabilities<'a> {
    paths: [&'a str; 1],
}

#[async_trait]
impl Kms for Vault {
    async fn get(&self, at: &SecretRef) -> Result<Option<Versioned>, KmsError> {
        self.kv(at).await?.get(at).await
    }

    async fn put(&self, at: &SecretRef, value: &[u8], expect: Expect) -> Result<Version, KmsError> {
        if value.len() > MAX_VALUE {
            return Err(KmsError::TooLarge { size: value.len(), max: MAX_VALUE });
        }
        let text = std::str::from_utf8(value)
            .map_err(|_| KmsError::Protocol { what: "only UTF-8 text can be stored".into() })?;
        self.kv(at).await?.put(at, text, expect).await
    }

    async fn purge(&self, at: &SecretRef) -> Result<Purged, KmsError> {
        self.kv(at).await?.purge(at).await
    }

    async fn whoami(&self) -> Result<KmsIdentity, KmsError> {
        let answer = self.session.send(Method::GET, "auth/token/lookup-self", None).await?;
        if answer.status != 200 {
            return Err(fault(&answer, "look at your own session", 0));
        }
        let found = decode::<LookupBody>(&answer)?.data;
        self.session.check_org(found.meta.as_ref().and_then(|meta| meta.org.as_deref()))?;
        Ok(KmsIdentity {
            org: self.session.org().clone(),
            subject: printable(&found.display_name),
            expires: found.expire_time.and_then(|time| time.parse().ok()),
            can_write: self.can_write().await,
        })
    }

    async fn caps(&self) -> Result<Caps, KmsError> {
        Ok(match self.engine().await? {
            Engine::V1 => Caps { max_value: MAX_VALUE, cas: Cas::Verify, purge: PurgeReach::AllVersions },
            Engine::V2 => Caps { max_value: MAX_VALUE, cas: Cas::Native, purge: PurgeReach::AllVersions },
        })
    }

    async fn close(&self) {
        self.session.close().await;
    }
}
