//! A verified person in one org, with tokens that stay fresh.
//!
//! Invariant: the org is one that the newest verified token carries; where a refreshed token no longer does, no token is
//! handed out for it. Deliberately absent: the tokens themselves, but for [`Session::current`], which the KMS client
//! calls.

use std::sync::Arc;

use async_trait::async_trait;
use zeroize::Zeroizing;

use super::error::SignInError;
use super::org;
use super::tokens::{Storage, Tokens};
use crate::kms::{IdentityTokens, KmsError};
use crate::tenant::{Org, Tenant};

/// A verified person in one org, with tokens that stay fresh.
pub struct Session {
    tenant: Tenant,
    orgs: Vec<Org>,
    tokens: Arc<Tokens>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

impl Session {
    /// The session in the chosen org, or in the only one; `None` where a choice is needed.
    ///
    /// # Errors
    /// [`SignInError::ForeignOrg`], [`SignInError::NoOrg`], [`SignInError::OrgName`].
    pub(super) fn of(tokens: Arc<Tokens>, chosen: Option<&str>) -> Result<Option<Arc<Self>>, SignInError> {
        let rule = tokens.deployment().effective_org_claim();
        let verified = tokens.verified();
        let orgs = org::orgs(&verified, &rule)?;
        let chosen = match (chosen, orgs.as_slice()) {
            (Some(chosen), _) => chosen,
            (None, [only]) => only.as_str(),
            (None, _) => return Ok(None),
        };
        let tenant = org::tenant(&verified, &rule, chosen)?;
        Ok(Some(Arc::new(Self { tenant, orgs, tokens })))
    }

    /// Who, in which org.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Every org that the token carried when the session began.
    pub fn orgs(&self) -> &[Org] {
        &self.orgs
    }

    /// Where the session is kept.
    pub fn storage(&self) -> Storage {
        self.tokens.storage()
    }

    /// A fresh token for the KMS login.
    ///
    /// # Errors
    /// [`SignInError::SessionEnded`] for good; [`SignInError::ForeignOrg`] where the person has left the org since;
    /// others may pass.
    pub async fn current(&self) -> Result<Zeroizing<String>, SignInError> {
        let token = self.tokens.current().await?;
        let orgs = org::orgs(&self.tokens.verified(), &self.tokens.deployment().effective_org_claim())?;
        if orgs.contains(self.tenant.org()) { Ok(token) } else { Err(SignInError::ForeignOrg) }
    }
}

#[async_trait]
impl IdentityTokens for Session {
    async fn current(&self) -> Result<Zeroizing<String>, KmsError> {
        Self::current(self).await.map_err(|error| match error {
            SignInError::ProviderUnreachable { .. } | SignInError::Keyring(_) => {
                KmsError::Unavailable { why: error.to_string(), retry_after: None }
            }
            other => KmsError::Unauthenticated { why: other.to_string() },
        })
    }
}
