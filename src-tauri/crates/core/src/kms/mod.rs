//! The organisation's key management service: where the cluster index and the sealed kubeconfigs live.
//!
//! Invariants: a [`SecretRef`] is built from a verified org and a checked cluster name, never from a string, so no
//! caller can name another org's material; "absent" is `Ok(None)` and nothing else is.
//!
//! Deliberately absent: listing. The index is the list.

use std::fmt;

use async_trait::async_trait;
use zeroize::Zeroizing;

use crate::registry::ClusterName;
use crate::tenant::Org;

/// Which document of which org. Paths are `orgs/<org>/k8s/...`, the layout of the service Muster stays compatible with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SecretRef {
    org: Org,
    kind: RefKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum RefKind {
    Index,
    PurgeList,
    Credential(ClusterName),
}

impl SecretRef {
    /// The org's cluster index: `orgs/<org>/k8s/clusters`.
    pub fn index(org: &Org) -> Self {
        Self { org: org.clone(), kind: RefKind::Index }
    }

    /// The org's list of credentials still to be purged: `orgs/<org>/k8s/purge`.
    pub fn purge_list(org: &Org) -> Self {
        Self { org: org.clone(), kind: RefKind::PurgeList }
    }

    /// One cluster's sealed kubeconfig: `orgs/<org>/k8s/clusters/<name>/kubeconfig`.
    pub fn credential(org: &Org, name: &ClusterName) -> Self {
        Self { org: org.clone(), kind: RefKind::Credential(name.clone()) }
    }

    /// The org this ref belongs to.
    pub fn org(&self) -> &Org {
        &self.org
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RefKind::Index => write!(f, "orgs/{}/k8s/clusters", self.org),
            RefKind::PurgeList => write!(f, "orgs/{}/k8s/purge", self.org),
            RefKind::Credential(name) => write!(f, "orgs/{}/k8s/clusters/{name}/kubeconfig", self.org),
        }
    }
}

/// A value read from the KMS. The bytes are wiped when dropped.
pub type SecretBytes = Zeroizing<Vec<u8>>;

/// A value with the version the store gave it.
pub struct Versioned {
    /// The value.
    pub bytes: SecretBytes,
    /// The store's version, for compare-and-set.
    pub version: Version,
}

/// A store's version number of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u64);

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing there: create only.
    Absent,
    /// Exactly this version.
    Version(Version),
    /// Whatever is there.
    Any,
}

/// The outcome of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// Every version is destroyed.
    Gone,
    /// There was nothing.
    WasAbsent,
}

/// The bearer token that a KMS login presents: fresh at each call, refreshed by whoever implements this.
#[async_trait]
pub trait IdentityTokens: Send + Sync {
    /// A token that is valid for at least the next minute.
    async fn current(&self) -> Result<Zeroizing<String>, KmsError>;
}

/// Why the KMS did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum KmsError {}
