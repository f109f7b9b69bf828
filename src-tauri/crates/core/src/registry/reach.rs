//! Reaching a cluster: from a name to a [`Bound`].
//!
//! Invariants: the record is fresh at each call while the client is kept; a client of an older registration is never
//! kept for a newer one; a credential older than its row (a lagging replica) is waited out or told, never used.

use super::documents::Documents;
use super::record::Generation;
use super::{Bound, ClusterName, Connect, NamespaceBound, Record, Registration, Registry, RegistryError};
use crate::kms::{SecretRef, Versioned};
use crate::kubeconfig::SafeKubeconfig;
use crate::tenant::Tenant;

impl<C: Connect> Registry<C> {
    /// Resolves a cluster by name for the org: the only constructor of a client for what is registered.
    ///
    /// # Errors
    /// [`super::Refusal::NoCluster`] where the org has no such cluster; [`RegistryError::CredentialGone`] and
    /// [`RegistryError::CredentialRefused`] where the row is there and what it needs is not.
    pub async fn reach(&self, tenant: &Tenant, name: &str) -> Result<Bound<C::Client>, RegistryError> {
        let record = self.get(tenant, name).await?;
        let place = self.clients.place(tenant.org(), &record.name, &record.generation, self.clock.now());
        let client = place.get_or_try_init(|| self.client_of(tenant, &record)).await?.clone();
        // Signed out meanwhile: the client is nobody's any more.
        if let Err(closed) = self.ensure_open() {
            self.clients.clear();
            return Err(closed.into());
        }
        Ok(Bound::new(record, client))
    }

    /// A cluster that is not registered yet, to be looked at before it is. Nothing is sealed, indexed or kept.
    ///
    /// # Errors
    /// [`RegistryError::Gate`] and [`RegistryError::Cluster`].
    pub async fn preview(
        &self,
        tenant: &Tenant,
        registration: &Registration,
    ) -> Result<Bound<C::Client>, RegistryError> {
        self.ensure_open()?;
        let admitted = SafeKubeconfig::admit(
            registration.kubeconfig.text().as_bytes(),
            self.connect.policy(),
            self.clock.now(),
        )?;
        let client = self.dial(&registration.name, &admitted).await?;
        let record = registration.record(tenant.org(), None, Generation::new("", 0), String::new());
        Ok(Bound::new(record, client))
    }

    /// Drops the client behind a bound, so that the next reach fetches the credential anew: for a cluster that stopped
    /// accepting it, in case a colleague has rotated it.
    pub fn drop_client<K>(&self, bound: &Bound<K>) {
        let record = bound.record();
        self.clients.forget_generation(&record.org, &record.name, &record.generation);
    }

    async fn client_of(&self, tenant: &Tenant, record: &Record) -> Result<C::Client, RegistryError> {
        let sealed = self.credential(tenant, record).await?;
        let admitted =
            SafeKubeconfig::admit(&sealed.bytes, self.connect.policy(), self.clock.now()).map_err(
                |refusals| RegistryError::CredentialRefused { cluster: record.name.clone(), refusals },
            )?;
        self.dial(&record.name, &admitted).await
    }

    async fn credential(&self, tenant: &Tenant, record: &Record) -> Result<Versioned, RegistryError> {
        let at = SecretRef::credential(tenant.org(), &record.name);
        for attempt in Documents::tries() {
            self.documents.pause_before(attempt).await;
            let found = self.kms.get(&at).await.map_err(|error| RegistryError::kms("reading", &at, error))?;
            match found {
                // The original service destroys a credential by writing nothing over it.
                Some(sealed) if sealed.bytes.is_empty() => break,
                None => break,
                Some(sealed) if record.sealed.is_some_and(|least| sealed.version < least) => {}
                Some(sealed) => return Ok(sealed),
            }
            if attempt + 1 == Documents::tries().end {
                return Err(RegistryError::Behind { document: at.words() });
            }
        }
        Err(RegistryError::CredentialGone { cluster: record.name.clone() })
    }

    pub(super) async fn dial(
        &self,
        name: &ClusterName,
        kubeconfig: &SafeKubeconfig,
    ) -> Result<C::Client, RegistryError> {
        self.connect
            .client(kubeconfig)
            .await
            .map_err(|error| RegistryError::Cluster { cluster: name.clone(), failure: error.into() })
    }
}

/// Whether a bound addresses something at all.
pub(super) fn is_empty(bound: &NamespaceBound) -> bool {
    matches!(bound, NamespaceBound::Only(names) if names.is_empty())
}
