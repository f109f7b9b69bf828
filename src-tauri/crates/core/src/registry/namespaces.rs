//! Namespaces: what a registration may address, and what one call resolves to.
//!
//! Invariant: "the whole cluster" is [`NamespaceBound::WholeCluster`], a choice of its own; no list of namespaces,
//! however blank, turns into it. Every [`Namespace`] is a DNS label, so that it is one safe segment of an API path.

use std::fmt;

use super::name::is_dns_label;

/// A Kubernetes namespace's name (RFC 1123 label).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(String);

impl Namespace {
    /// Checks a name; blanks around it are not part of it. `None` where no namespace can have it.
    pub fn parse(name: &str) -> Option<Self> {
        let trimmed = name.trim();
        is_dns_label(trimmed).then(|| Self(trimmed.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which namespaces a registration may address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamespaceBound {
    /// All of them, and what belongs to the cluster as a whole.
    WholeCluster,
    /// These only: at least one, in the order given, none twice. Made by [`NamespaceBound::only`].
    Only(Vec<Namespace>),
}

/// Why a list of namespaces cannot bound a registration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoundRefused {
    /// Nothing but blanks.
    #[error("no namespace is named")]
    Blank,
    /// A name that no namespace has.
    #[error(
        "“{}” cannot be a namespace's name: 1-63 characters of a-z, 0-9 and '-', with a letter or digit at both ends",
        crate::kubeconfig::printable(name)
    )]
    NotANamespace {
        /// The name.
        name: String,
    },
}

impl BoundRefused {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blank => "blank_namespaces",
            Self::NotANamespace { .. } => "bad_namespace_name",
        }
    }

    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Blank => "Name the namespaces, or choose the whole cluster.",
            Self::NotANamespace { .. } => "Correct the name; `kubectl get namespaces` lists them.",
        }
    }
}

impl NamespaceBound {
    /// A bound to these namespaces: trimmed, blanks dropped, repetitions dropped, order kept.
    ///
    /// # Errors
    /// [`BoundRefused::Blank`] where nothing is left, since the whole cluster is chosen and never typed into being.
    pub fn only<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, BoundRefused> {
        let mut kept: Vec<Namespace> = Vec::new();
        for name in names {
            let name = name.as_ref().trim();
            if name.is_empty() {
                continue;
            }
            let namespace = Namespace::parse(name)
                .ok_or_else(|| BoundRefused::NotANamespace { name: name.to_owned() })?;
            if !kept.contains(&namespace) {
                kept.push(namespace);
            }
        }
        if kept.is_empty() { Err(BoundRefused::Blank) } else { Ok(Self::Only(kept)) }
    }

    /// Whether the registration addresses the cluster as a whole.
    pub fn is_whole_cluster(&self) -> bool {
        matches!(self, Self::WholeCluster)
    }
}

/// What one call may read: the answer of [`super::Bound::scope`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamespaceScope {
    /// Every namespace, in one read across the cluster. Only a whole-cluster registration gets this.
    All,
    /// These, each read by itself.
    Each(Vec<Namespace>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &[&str]) -> Result<Vec<String>, BoundRefused> {
        NamespaceBound::only(names).map(|bound| match bound {
            NamespaceBound::Only(kept) => kept.iter().map(Namespace::to_string).collect(),
            NamespaceBound::WholeCluster => unreachable!("a list never becomes the whole cluster"),
        })
    }

    #[test]
    fn a_bound_of_only_blanks_is_refused_and_never_becomes_the_whole_cluster() {
        for blanks in [&[][..], &[""], &["  ", "\t", "\n"]] {
            assert_eq!(only(blanks), Err(BoundRefused::Blank), "{blanks:?}");
        }
    }

    #[test]
    fn a_bound_is_trimmed_and_deduplicated_in_order() {
        assert_eq!(only(&[" b ", "a", "", "b", "a "]), Ok(vec!["b".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn a_name_that_would_leave_its_path_segment_cannot_be_in_a_bound() {
        for name in ["a/b", "..", "*", "a?b", "a#b", "A", "%2e%2e"] {
            assert!(matches!(only(&["ok", name]), Err(BoundRefused::NotANamespace { .. })), "{name:?}");
        }
    }
}
