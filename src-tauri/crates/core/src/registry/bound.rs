//! A cluster, resolved for one org: the only thing that reads take.
//!
//! Invariants: a [`Bound`] is made by [`super::Registry`] alone, and always for a cluster that was named. Every read
//! asks it first: [`Bound::scope`] and [`Bound::one`] refuse a namespace outside the registration's bound and never
//! narrow it silently; [`Bound::whole_cluster`] refuses what cannot be narrowed. All three answer before anything is
//! dialled.

use super::{Namespace, NamespaceBound, NamespaceScope, Record, Refusal};
use crate::connect::ClusterClient;

/// One registered cluster, resolved for one org.
#[derive(Clone)]
pub struct Bound<K = ClusterClient> {
    record: Record,
    client: K,
}

impl<K> std::fmt::Debug for Bound<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound").field("record", &self.record).finish_non_exhaustive()
    }
}

impl<K> Bound<K> {
    pub(super) fn new(record: Record, client: K) -> Self {
        Self { record, client }
    }

    /// The registration, as it was at the moment of reaching.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The client. For [`crate::reads`], after the bound was asked.
    pub(crate) fn client(&self) -> &K {
        &self.client
    }

    /// Which namespaces a read may cover, given the one that was asked for; empty asks for as many as may be.
    ///
    /// # Errors
    /// [`Refusal::Namespace`] for a namespace outside the bound: whoever asked for the wrong thing must be told, or
    /// would take an empty answer for the truth.
    pub fn scope(&self, namespace: &str) -> Result<NamespaceScope, Refusal> {
        if namespace.trim().is_empty() {
            return Ok(match &self.record.bound {
                NamespaceBound::WholeCluster => NamespaceScope::All,
                NamespaceBound::Only(names) => NamespaceScope::Each(names.clone()),
            });
        }
        Ok(NamespaceScope::Each(vec![self.one(namespace)?]))
    }

    /// The one namespace of an operation that addresses a single object. It has to be named: "all of them" is nothing
    /// that such an operation may mean.
    ///
    /// # Errors
    /// [`Refusal::Namespace`] where none is named or it is outside the bound.
    pub fn one(&self, namespace: &str) -> Result<Namespace, Refusal> {
        let refused = || Refusal::Namespace {
            cluster: self.record.name.to_string(),
            namespace: namespace.trim().to_owned(),
        };
        let named = Namespace::parse(namespace).ok_or_else(refused)?;
        match &self.record.bound {
            NamespaceBound::WholeCluster => Ok(named),
            NamespaceBound::Only(names) if names.contains(&named) => Ok(named),
            NamespaceBound::Only(_) => Err(refused()),
        }
    }

    /// Whether what belongs to the whole cluster may be read: nodes, persistent volumes.
    ///
    /// # Errors
    /// [`Refusal::Scope`] for a registration that is bounded to namespaces. Answering would show one org of a shared
    /// cluster what belongs to the others.
    pub fn whole_cluster(&self) -> Result<(), Refusal> {
        match &self.record.bound {
            NamespaceBound::WholeCluster => Ok(()),
            NamespaceBound::Only(_) => Err(Refusal::Scope { cluster: self.record.name.to_string() }),
        }
    }
}

#[cfg(test)]
impl<K> Bound<K> {
    /// For tests of reads: a cluster `prod`, bounded to these namespaces; none of them means the whole cluster.
    pub(crate) fn for_tests(client: K, namespaces: &[&str]) -> Self {
        let row = serde_json::json!({"name": "prod", "namespaces": namespaces});
        let row: super::record::Row = serde_json::from_value(row).expect("a row");
        let org = crate::tenant::Org::parse("acme").expect("an org");
        Self::new(row.record(&org).expect("a record"), client)
    }
}

#[cfg(test)]
#[path = "bound_tests.rs"]
mod tests;
