//! Deregistering a cluster, and finishing purges that did not come to their end.
//!
//! The order is the safety: an entry among the pending purges, then the row goes, then the credential, then the entry.
//! Half-way means that the entry is still there; doing it again, by the same call or by [`Registry::retry_purges`],
//! goes on from there.

use super::index::{Fence, Index, Remove};
use super::pending::{Ended, Lease, PendingPurge, PurgeList, Purpose, Release};
use super::register::is_unknown;
use super::{ClusterName, Connect, Registry, RegistryError};
use crate::kms::{Purged, SecretRef};
use crate::tenant::Tenant;

/// The outcome of deregistering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deregistered {
    /// The row is gone and every version of the credential is destroyed.
    Removed,
    /// There was no such cluster, and nothing of it left to purge.
    WasAbsent,
}

/// The outcome of retrying the pending purges.
#[derive(Debug, Default)]
pub struct Purges {
    /// Clusters whose credential is destroyed now.
    pub purged: Vec<ClusterName>,
    /// Clusters whose credential is still there, and why.
    pub failed: Vec<(ClusterName, RegistryError)>,
}

impl<C: Connect> Registry<C> {
    /// Takes a cluster out of the org's index and destroys its credential, in every version.
    ///
    /// # Errors
    /// Where the row went and the purge failed, the purge stays pending and is told by [`Registry::pending_purges`].
    pub async fn deregister(&self, tenant: &Tenant, name: &str) -> Result<Deregistered, RegistryError> {
        self.ensure_open()?;
        let Ok(name) = ClusterName::parse(name) else {
            return Ok(Deregistered::WasAbsent);
        };
        let index_ref = SecretRef::index(tenant.org());
        let registered = self.index(tenant).await?.has(&name);
        if !registered && self.purge_list(tenant).await?.entry(&name).is_none() {
            return Ok(Deregistered::WasAbsent);
        }
        let lease = self.take_lease(tenant, &name, Purpose::Remove).await?;
        let removed = match lease.check() {
            Ok(()) => self.documents.update::<Index>(&index_ref, &Remove(&name)).await,
            Err(error) => Err(error),
        };
        self.clients.forget(tenant.org(), &name);
        if let Err(error) = removed {
            // The row may be there or not; what is left to do depends on it.
            let _ = self.settle(tenant, &lease).await;
            return Err(error);
        }
        let purged = self.purge(tenant, &lease).await?;
        self.ensure_open()?;
        let was_there = registered || purged == Purged::Gone;
        Ok(if was_there { Deregistered::Removed } else { Deregistered::WasAbsent })
    }

    /// Credentials that are still in the KMS although no row names their cluster, and that nobody is working on.
    ///
    /// # Errors
    /// [`RegistryError`] where the two documents cannot be read.
    pub async fn pending_purges(&self, tenant: &Tenant) -> Result<Vec<PendingPurge>, RegistryError> {
        self.ensure_open()?;
        // The list first: a registration that finishes in between then has its row already.
        let list = self.purge_list(tenant).await?;
        let index = self.index(tenant).await?;
        self.ensure_open()?;
        Ok(list.idle(self.clock.now()).filter(|pending| !index.has(&pending.name)).collect())
    }

    /// Finishes what is pending.
    ///
    /// # Errors
    /// [`RegistryError`] where the list cannot be read; the fate of each single purge is in [`Purges`].
    pub async fn retry_purges(&self, tenant: &Tenant) -> Result<Purges, RegistryError> {
        self.ensure_open()?;
        let idle: Vec<_> = self.purge_list(tenant).await?.idle(self.clock.now()).collect();
        let mut outcome = Purges::default();
        for PendingPurge { name, .. } in idle {
            let settled = match self.take_lease(tenant, &name, Purpose::Remove).await {
                Ok(lease) => self.settle(tenant, &lease).await,
                Err(error) => Err(error),
            };
            match settled {
                Ok(Settled::Purged) => outcome.purged.push(name),
                Ok(Settled::Void) => {}
                Err(error) => outcome.failed.push((name, error)),
            }
            self.ensure_open()?;
        }
        Ok(outcome)
    }

    /// Brings an entry to its end, by what the index says: with a row it is void; without, the credential is purged.
    /// Where that fails, the entry stays and others may go on at once.
    pub(super) async fn settle(&self, tenant: &Tenant, lease: &Lease) -> Result<Settled, RegistryError> {
        let fence = Fence(&lease.name);
        match self.documents.update::<Index>(&SecretRef::index(tenant.org()), &fence).await {
            Ok(index) if index.has(&lease.name) => {
                self.finish(tenant, lease, Ended::Registered).await?;
                Ok(Settled::Void)
            }
            Ok(_) => self.purge(tenant, lease).await.map(|_| Settled::Purged),
            Err(error) => {
                self.release(tenant, lease, Ended::Failed).await;
                Err(error)
            }
        }
    }

    /// Purges the credential of a cluster that has no row, and ends the lease.
    async fn purge(&self, tenant: &Tenant, lease: &Lease) -> Result<Purged, RegistryError> {
        let credential = SecretRef::credential(tenant.org(), &lease.name);
        let purged = match lease.check() {
            Ok(()) => {
                self.kms.purge(&credential).await.map_err(|e| RegistryError::kms("purging", &credential, e))
            }
            Err(late) => Err(late),
        };
        match purged {
            Ok(purged) => self.finish(tenant, lease, Ended::Purged).await.map(|()| purged),
            Err(error) => {
                let ended = if is_unknown(&error) { Ended::PurgeUnknown } else { Ended::Failed };
                self.release(tenant, lease, ended).await;
                Err(error)
            }
        }
    }

    /// Ends the lease. Whether that can be done is part of the outcome.
    pub(super) async fn finish(
        &self,
        tenant: &Tenant,
        lease: &Lease,
        ended: Ended,
    ) -> Result<(), RegistryError> {
        let release = Release { lease, ended, now: self.clock.now() };
        self.documents.update(&SecretRef::purge_list(tenant.org()), &release).await.map(|_| ())
    }

    /// Gives a lease back after a failure, as well as that goes: what cannot be given back runs out.
    pub(super) async fn release(&self, tenant: &Tenant, lease: &Lease, ended: Ended) {
        let _ = self.finish(tenant, lease, ended).await;
    }

    async fn purge_list(&self, tenant: &Tenant) -> Result<PurgeList, RegistryError> {
        self.documents.load(&SecretRef::purge_list(tenant.org())).await
    }
}

/// How an entry came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Purged,
    Void,
}
