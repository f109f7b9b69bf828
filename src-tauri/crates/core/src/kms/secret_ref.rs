//! Which document of which org.
//!
//! Invariant: a [`SecretRef`] is built from an [`Org`] and a [`ClusterName`] that were checked, never from text, so a
//! path with `..`, `//` or another org's name cannot be written down. Deliberately absent: parsing one.

use std::fmt;

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

    /// What lies there, in words.
    pub fn words(&self) -> String {
        match &self.kind {
            RefKind::Index => "your organisation's list of clusters".to_owned(),
            RefKind::PurgeList => "your organisation's list of pending purges".to_owned(),
            RefKind::Credential(name) => format!("the credential of cluster “{name}”"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_laid_out_as_the_source_lays_them_out() {
        let org = Org::parse("acme").expect("a plain org name");
        let name = ClusterName::parse("prod").expect("a plain cluster name");
        assert_eq!(SecretRef::index(&org).to_string(), "orgs/acme/k8s/clusters");
        assert_eq!(SecretRef::purge_list(&org).to_string(), "orgs/acme/k8s/purge");
        assert_eq!(SecretRef::credential(&org, &name).to_string(), "orgs/acme/k8s/clusters/prod/kubeconfig");
    }
}
