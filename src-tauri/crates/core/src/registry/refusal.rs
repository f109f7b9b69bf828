//! The five refusals of the registry.
//!
//! Invariant: none of them tells whether another org has the thing; [`Refusal::NoCluster`] has the same words for a
//! cluster that another org registered and for one that nobody did.

use super::MAX_NAME_LEN;
use crate::kubeconfig::printable;

/// What the registry refuses by its own rules, before anything is dialled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nobody is signed in. An org without a verified person behind it is a claim, not an identity.
    #[error("nobody is signed in: an organisation's clusters are shown to a verified person only")]
    NoTenant,
    /// The org's index has no such name. Another org's cluster is the same as none.
    #[error("no cluster named “{}” is registered for your organisation", printable(name))]
    NoCluster {
        /// The name that was asked for.
        name: String,
    },
    /// A namespace outside what the registration may address, or none where one is needed.
    #[error("{}", namespace_words(cluster, namespace))]
    Namespace {
        /// The cluster.
        cluster: String,
        /// The namespace that was asked for; empty where none was.
        namespace: String,
    },
    /// A read of the whole cluster through a registration that is bounded to namespaces.
    #[error(
        "cluster “{cluster}” is registered for some of its namespaces only, so what belongs to the whole cluster is not available"
    )]
    Scope {
        /// The cluster.
        cluster: String,
    },
    /// A name that no cluster may have.
    #[error(
        "“{}” cannot be a cluster's name: 1-{MAX_NAME_LEN} characters of a-z, 0-9 and '-', with a letter or digit at both ends",
        printable(name)
    )]
    Name {
        /// The name.
        name: String,
    },
}

fn namespace_words(cluster: &str, namespace: &str) -> String {
    if namespace.is_empty() {
        format!("cluster “{cluster}” needs a namespace to be named for this")
    } else {
        format!(
            "namespace “{}” is outside what your organisation's registration of cluster “{cluster}” may address",
            printable(namespace)
        )
    }
}

impl Refusal {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTenant => "no_tenant",
            Self::NoCluster { .. } => "no_cluster",
            Self::Namespace { .. } => "namespace_out_of_bound",
            Self::Scope { .. } => "cluster_scope_out_of_bound",
            Self::Name { .. } => "bad_cluster_name",
        }
    }

    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoTenant => "Sign in.",
            Self::NoCluster { .. } => "Check the name in the fleet list, or register the cluster.",
            Self::Namespace { .. } => "Choose one of the namespaces that the registration lists.",
            Self::Scope { .. } => {
                "Open one of its namespaces, or register it anew with a credential for the whole cluster."
            }
            Self::Name { .. } => "Choose a name such as “prod-eu-1”.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_a_code_of_its_own_and_words_that_name_the_cluster() {
        let cluster = || "prod".to_owned();
        let refusals = [
            Refusal::NoTenant,
            Refusal::NoCluster { name: cluster() },
            Refusal::Namespace { cluster: cluster(), namespace: "kube-system".into() },
            Refusal::Scope { cluster: cluster() },
            Refusal::Name { name: "Prod".into() },
        ];
        let codes: std::collections::BTreeSet<_> = refusals.iter().map(Refusal::code).collect();
        assert_eq!(codes.len(), refusals.len(), "a code stands for one refusal");
        for refusal in &refusals[1..4] {
            assert!(refusal.to_string().contains("prod"), "{refusal} must say which cluster");
        }
    }

    #[test]
    fn a_refused_name_cannot_steer_the_terminal_or_the_page_it_is_shown_on() {
        let words = Refusal::NoCluster { name: "\u{1b}[2J\u{202e}x".into() }.to_string();
        assert!(!words.contains('\u{1b}') && !words.contains('\u{202e}'), "{words:?}");
    }
}
