//! What a server has to offer for the contract to be held against it.

use std::sync::Arc;

use async_trait::async_trait;
use muster_core::clock::Clock;
use muster_core::kms::vault::{Vault, VaultConfig};
use muster_core::kms::{IdentityTokens, SecretRef};
use muster_core::tenant::Org;

/// A server with the orgs `acme` and `zoo`, and its operator's side.
#[async_trait]
pub trait KmsUnderTest: Sync {
    /// How clients are pointed at it; the role is `muster-{org}`.
    fn config(&self) -> VaultConfig;

    /// Sign-ins of a member of this org.
    fn identity(&self, org: &str) -> Arc<dyn IdentityTokens>;

    /// The clock that clients go by.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Ends every token that was handed out, behind the clients' backs.
    async fn kill_tokens(&self);

    /// How many versions of a document can still be read, by whoever may read everything.
    async fn readable_versions(&self, at: &SecretRef) -> usize;

    /// Seals the server.
    async fn seal(&self);

    /// A client for an org, with that org's identity.
    fn client(&self, org_name: &str) -> Vault {
        Vault::new(&self.config(), org(org_name), self.identity(org_name), self.clock()).unwrap()
    }
}

pub fn org(name: &str) -> Org {
    Org::parse(name).unwrap()
}
