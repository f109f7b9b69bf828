//! Registering a cluster, and rotating its credential, which is the same.
//!
//! The order is the safety: judge the kubeconfig, look whether it and the row fit into the store, have the cluster
//! prove itself, and only then write: an entry among the pending purges, the credential, the row; then the entry is
//! taken out. Whatever step is the last that happens, a credential without a row has an entry, and the same call again
//! finishes the work.

use super::documents::{Document, Documents};
use super::index::{Index, Upsert};
use super::pending::{Ended, Lease, Purpose, Take};
use super::proof::prove;
use super::reach::is_empty;
use super::record::{Generation, Row};
use super::{
    BoundRefused, ClusterName, Connect, Counts, DEFAULT_PROVIDER, NamespaceBound, Record, Registry,
    RegistryError,
};
use crate::kms::{Expect, KmsError, SecretRef, Version};
use crate::kubeconfig::SafeKubeconfig;
use crate::tenant::{Org, Tenant};

/// What is to be registered.
#[derive(Debug)]
pub struct Registration {
    /// Under which name.
    pub name: ClusterName,
    /// With which credential, cut to one context.
    pub kubeconfig: SafeKubeconfig,
    /// Who runs the cluster; blank for [`DEFAULT_PROVIDER`].
    pub provider: String,
    /// What the registration may address.
    pub bound: NamespaceBound,
    /// Whether it becomes the org's default.
    pub default: bool,
}

/// How far a registration has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterStep {
    /// Judging the kubeconfig once more, and whether everything fits into the KMS.
    Checking,
    /// Asking the cluster.
    Probing,
    /// Sealing the credential.
    Sealing,
    /// Adding the row.
    Indexing,
    /// Done.
    Done,
}

impl Registration {
    pub(super) fn record(
        &self,
        org: &Org,
        counts: Option<Counts>,
        generation: Generation,
        registered: String,
    ) -> Record {
        let provider = self.provider.trim();
        Record {
            name: self.name.clone(),
            org: org.clone(),
            provider: if provider.is_empty() { DEFAULT_PROVIDER } else { provider }.to_owned(),
            endpoint: self.kubeconfig.server().as_str().trim_end_matches('/').to_owned(),
            counts,
            bound: self.bound.clone(),
            registered,
            default: self.default,
            generation,
            sealed: None,
        }
    }
}

impl<C: Connect> Registry<C> {
    /// Registers a cluster for the tenant's org. Under a name that is there already, this replaces the credential and
    /// the row.
    ///
    /// # Errors
    /// [`RegistryError::Gate`], [`RegistryError::Kms`] with [`KmsError::TooLarge`], and [`RegistryError::Cluster`]
    /// before anything was written. After any error the same call may be made again.
    pub async fn register(
        &self,
        tenant: &Tenant,
        registration: &Registration,
        progress: &(dyn Fn(RegisterStep) + Send + Sync),
    ) -> Result<Record, RegistryError> {
        self.ensure_open()?;
        progress(RegisterStep::Checking);
        let now = self.clock.now();
        let admitted =
            SafeKubeconfig::admit(registration.kubeconfig.text().as_bytes(), self.connect.policy(), now)?;
        if is_empty(&registration.bound) {
            return Err(BoundRefused::Blank.into());
        }
        let generation =
            Generation::new(&now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), self.entropy.next());
        let registered = generation.registered().to_owned();
        let mut record = registration.record(tenant.org(), None, generation, registered);
        self.ensure_fits(tenant, &record, &admitted).await?;

        progress(RegisterStep::Probing);
        let client = self.dial(&record.name, &admitted).await?;
        let proof = prove(&client, &record.bound)
            .await
            .map_err(|failure| RegistryError::Cluster { cluster: record.name.clone(), failure })?;
        record.counts = proof.counts;
        self.ensure_open()?;

        progress(RegisterStep::Sealing);
        let lease = self.take_lease(tenant, &record.name, Purpose::Register).await?;
        let written = self.seal_and_index(tenant, &mut record, &admitted, &lease, progress).await;
        // Whatever happened, a client made from the old credential is over.
        self.clients.forget(tenant.org(), &record.name);
        match written {
            Ok(()) => {}
            Err(Unfinished::Seal(error)) if is_unknown(&error) => {
                self.release(tenant, &lease, Ended::SealUnknown).await;
                return Err(error);
            }
            Err(Unfinished::Seal(error) | Unfinished::Index(error)) => {
                // With no row, the credential must not stay; where that fails, the entry keeps it in sight.
                let _ = self.settle(tenant, &lease).await;
                return Err(error);
            }
        }
        let finished = self.finish(tenant, &lease, Ended::Registered).await;
        if let Err(interrupted @ RegistryError::Interrupted { .. }) = finished {
            return Err(interrupted);
        }
        // Another failure leaves an entry that is void, since the row is there.
        self.ensure_open()?;
        progress(RegisterStep::Done);
        Ok(record)
    }

    /// Refuses what the store would refuse, before anything is dialled or written.
    async fn ensure_fits(
        &self,
        tenant: &Tenant,
        record: &Record,
        kubeconfig: &SafeKubeconfig,
    ) -> Result<(), RegistryError> {
        let credential = SecretRef::credential(tenant.org(), &record.name);
        let index_ref = SecretRef::index(tenant.org());
        let failed = |error| RegistryError::kms("reading", &index_ref, error);
        let max = self.kms.caps().await.map_err(failed)?.max_value;
        let fits = |size: usize, at: &SecretRef| {
            if size <= max {
                Ok(())
            } else {
                Err(RegistryError::kms("writing", at, KmsError::TooLarge { size, max }))
            }
        };
        fits(kubeconfig.text().len(), &credential)?;
        let mut index: Index = self.index(tenant).await?;
        index.upsert(&Row::of(record));
        fits(index.to_json().len(), &index_ref)
    }

    async fn seal_and_index(
        &self,
        tenant: &Tenant,
        record: &mut Record,
        kubeconfig: &SafeKubeconfig,
        lease: &Lease,
        progress: &(dyn Fn(RegisterStep) + Send + Sync),
    ) -> Result<(), Unfinished> {
        lease.check().map_err(Unfinished::Seal)?;
        record.sealed = Some(self.seal(tenant, &record.name, kubeconfig).await.map_err(Unfinished::Seal)?);
        progress(RegisterStep::Indexing);
        lease.check().map_err(Unfinished::Index)?;
        let row = Row::of(record);
        let index = SecretRef::index(tenant.org());
        self.documents.update::<Index>(&index, &Upsert(&row)).await.map(|_| ()).map_err(Unfinished::Index)
    }

    /// Writes the credential over the version that is there now, so that a request of an earlier try that arrives late
    /// cannot replace it.
    async fn seal(
        &self,
        tenant: &Tenant,
        name: &ClusterName,
        kubeconfig: &SafeKubeconfig,
    ) -> Result<Version, RegistryError> {
        let at = SecretRef::credential(tenant.org(), name);
        let text = kubeconfig.text().as_bytes();
        let failed = |error| RegistryError::kms("writing", &at, error);
        let mut conflict = KmsError::Conflict { current: None };
        for attempt in Documents::tries() {
            self.documents.pause_before(attempt).await;
            let found = self.kms.get(&at).await.map_err(|error| RegistryError::kms("reading", &at, error))?;
            let expect = found.map_or(Expect::Absent, |found| Expect::Version(found.version));
            match self.kms.put(&at, text, expect).await {
                Ok(version) => return Ok(version),
                Err(error @ KmsError::Conflict { .. }) => conflict = error,
                Err(lost) if lost.may_have_been_applied() => match self.kms.get(&at).await {
                    Ok(Some(found)) if found.bytes.as_slice() == text => return Ok(found.version),
                    _ => return Err(failed(lost)),
                },
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(conflict))
    }

    /// Becomes the one that works on this cluster's credential, waiting a little for whoever does so now.
    pub(super) async fn take_lease(
        &self,
        tenant: &Tenant,
        name: &ClusterName,
        purpose: Purpose,
    ) -> Result<Lease, RegistryError> {
        let at = SecretRef::purge_list(tenant.org());
        let mut busy = None;
        for attempt in Documents::tries() {
            self.documents.pause_before(attempt).await;
            let lease = Lease::new(name.clone(), format!("{:016x}", self.entropy.next()));
            match self.documents.update(&at, &Take { lease: &lease, purpose, now: self.clock.now() }).await {
                Ok(_) => return Ok(lease),
                Err(error @ RegistryError::Busy { .. }) => busy = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(busy.unwrap_or_else(|| RegistryError::Busy { cluster: name.clone() }))
    }
}

/// At which write a registration failed.
enum Unfinished {
    Seal(RegistryError),
    Index(RegistryError),
}

/// Whether a write to the KMS may have been carried out, or be carried out yet.
pub(super) fn is_unknown(error: &RegistryError) -> bool {
    matches!(error, RegistryError::Kms { source, .. } if source.may_have_been_applied())
}
