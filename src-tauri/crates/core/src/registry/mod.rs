//! The cluster registry: the only way from a name to a Kubernetes client.
//!
//! A cluster is registered under a name by an org. Its kubeconfig is judged, used once to prove that the cluster
//! answers, sealed in the org's KMS and dropped; what stays is a row in the org's index. [`Registry::reach`] resolves a
//! name to a [`Bound`], and every read of a cluster takes a `Bound`.
//!
//! Invariants:
//! - Every call names a [`Tenant`] and, where it is about one cluster, the cluster. There is no current cluster.
//! - A name is looked up in the tenant's own index only, so another org's cluster is not found, in the same words as one
//!   that nobody registered.
//! - Where a credential lies is derived from org and name ([`SecretRef`]); no record says so.
//! - The record is read afresh at each reach: a bound that was tightened holds from the next call on.
//! - No credential lies in the KMS without a row or an entry among the pending purges.
//!
//! Deliberately absent: a registration for another org, a client without a name, and anything on disk.
//!
//! Files: `name`, `namespaces`, `record`, `refusal`, `error` are the words; `index` and `pending` are the two shared
//! documents and `documents` how they are changed; `proof` and `dialing`, `register`, `deregister`, `reach`, `clients`, `bound` are
//! what happens.

mod bound;
mod clients;
mod deregister;
mod dialing;
mod documents;
mod entropy;
mod error;
mod index;
mod name;
mod namespaces;
mod pending;
mod proof;
mod reach;
mod record;
mod refusal;
mod register;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use bound::Bound;
pub use deregister::{Deregistered, Purges};
pub use entropy::{Entropy, SystemEntropy};
pub use error::RegistryError;
pub use name::{ClusterName, MAX_NAME_LEN};
pub(crate) use name::{is_dns_label, is_dns_subdomain};
pub use namespaces::{BoundRefused, Namespace, NamespaceBound, NamespaceScope};
pub use pending::PendingPurge;
pub use proof::{Cluster, Connect, CountedPage, PROOF_DEADLINE, Proof, plain_count};
pub use record::{Counts, DEFAULT_PROVIDER, Record};
pub use refusal::Refusal;
pub use register::{RegisterStep, Registration};

use crate::clock::Clock;
use crate::connect::Dialer;
use crate::kms::{Kms, SecretRef};
use crate::tenant::Tenant;
use clients::Clients;
use documents::Documents;
use index::Index;

/// The registry of one session: of one person in one org, over that org's KMS.
pub struct Registry<C: Connect = Dialer> {
    kms: Arc<dyn Kms>,
    connect: C,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    documents: Documents,
    clients: Clients<C::Client>,
    closed: AtomicBool,
}

impl<C: Connect> Registry<C> {
    /// A registry over a KMS session. Nothing is asked yet.
    pub fn new(kms: Arc<dyn Kms>, connect: C, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            documents: Documents::new(Arc::clone(&kms), Arc::clone(&entropy)),
            clients: Clients::new(),
            closed: AtomicBool::new(false),
            kms,
            connect,
            clock,
            entropy,
        }
    }

    /// Every cluster of the org, in the order of registration.
    ///
    /// # Errors
    /// [`RegistryError`] where the index cannot be read; an org that registered nothing has an empty list.
    pub async fn list(&self, tenant: &Tenant) -> Result<Vec<Record>, RegistryError> {
        self.ensure_open()?;
        let index = self.index(tenant).await?;
        self.ensure_open()?;
        Ok(index.records(tenant.org()))
    }

    /// One record.
    ///
    /// # Errors
    /// [`Refusal::NoCluster`] where the org has no such cluster.
    pub async fn get(&self, tenant: &Tenant, name: &str) -> Result<Record, RegistryError> {
        self.ensure_open()?;
        let not_found = || Refusal::NoCluster { name: name.trim().to_owned() };
        // A name that no cluster can have is not found either: which names could exist is nobody's business.
        let parsed = ClusterName::parse(name).map_err(|_| not_found())?;
        let record = self.index(tenant).await?.record(tenant.org(), &parsed);
        self.ensure_open()?;
        Ok(record.ok_or_else(not_found)?)
    }

    /// Ends the session, for signing out or changing the org: every client is dropped, the KMS session is closed, and
    /// every later call, and every call under way, is refused with [`Refusal::NoTenant`].
    pub async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.clients.clear();
        self.documents.clear();
        self.kms.close().await;
    }

    async fn index(&self, tenant: &Tenant) -> Result<Index, RegistryError> {
        self.documents.load(&SecretRef::index(tenant.org())).await
    }

    fn ensure_open(&self) -> Result<(), Refusal> {
        if self.closed.load(Ordering::SeqCst) { Err(Refusal::NoTenant) } else { Ok(()) }
    }
}
