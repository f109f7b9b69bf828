//! Why the registry could not do what was asked.
//!
//! Invariant: absent, forbidden, unreachable and broken stay four different answers, each with a code of its own.

use super::{BoundRefused, ClusterName, Refusal};
use crate::kms::KmsError;

/// Why the registry could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// One of the five refusals.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A list of namespaces that bounds nothing.
    #[error(transparent)]
    Bound(#[from] BoundRefused),
    /// The KMS did not do its part.
    #[error("{doing}: {source}")]
    Kms {
        /// What was under way, naming the cluster where there is one.
        doing: String,
        /// What the KMS said.
        source: KmsError,
    },
    /// The org's index cannot be read. It is never overwritten in this state.
    #[error("your organisation's list of clusters is damaged ({what}) and was left as it is")]
    IndexCorrupt {
        /// Where and how.
        what: String,
    },
    /// The org's index was written by a later version of this program.
    #[error(
        "your organisation's list of clusters was written by a newer version of Muster (format {found}, this one knows {known})"
    )]
    IndexNewer {
        /// The format found.
        found: u64,
        /// The latest format known.
        known: u64,
    },
    /// The KMS answers with a state older than one it answered with before.
    #[error("the KMS answers with an older state of {what} than it did before")]
    Behind {
        /// Of what.
        what: String,
    },
    /// Other writers were faster, five times in a row.
    #[error("{doing}: others kept changing your organisation's list of clusters at the same moment")]
    Contended {
        /// What was under way.
        doing: String,
    },
    /// Somebody else is registering or removing the same cluster.
    #[error("somebody is registering or removing cluster “{cluster}” right now")]
    Busy {
        /// The cluster.
        cluster: ClusterName,
    },
    /// The row is there and the KMS has no credential for it.
    #[error("cluster “{cluster}” is registered, and its credential is gone from the KMS")]
    CredentialGone {
        /// The cluster.
        cluster: ClusterName,
    },
    /// What is sealed for the cluster does not pass the gate.
    #[error("the credential sealed for cluster “{cluster}” is refused: {why}")]
    CredentialRefused {
        /// The cluster.
        cluster: ClusterName,
        /// Why, in the gate's words.
        why: String,
    },
    /// The cluster did not prove itself with the credential at hand.
    #[error("cluster “{cluster}” {failure}")]
    Cluster {
        /// The cluster.
        cluster: ClusterName,
        /// How.
        #[source]
        failure: ClusterFailure,
    },
}

/// How a cluster failed to answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterFailure {
    /// It does not know the credential.
    #[error("does not accept the credential")]
    Unauthenticated,
    /// It knows the credential and does not allow this.
    #[error("does not allow this credential to {what}")]
    Forbidden {
        /// What was tried.
        what: String,
    },
    /// Nobody answered, or not in time.
    #[error("is unreachable: {why}")]
    Unreachable {
        /// Why.
        why: String,
    },
    /// It answered in a way that cannot be used.
    #[error("answered in a way that cannot be used: {what}")]
    Failed {
        /// What was wrong.
        what: String,
    },
}

impl ClusterFailure {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthenticated => "cluster_unauthenticated",
            Self::Forbidden { .. } => "cluster_forbidden",
            Self::Unreachable { .. } => "cluster_unreachable",
            Self::Failed { .. } => "cluster_failed",
        }
    }
}

impl RegistryError {
    pub(super) fn kms(doing: impl Into<String>) -> impl FnOnce(KmsError) -> Self {
        let doing = doing.into();
        move |source| Self::Kms { doing, source }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Bound(refused) => refused.code(),
            Self::Kms { source, .. } => source.code(),
            Self::IndexCorrupt { .. } => "index_corrupt",
            Self::IndexNewer { .. } => "index_newer",
            Self::Behind { .. } => "kms_behind",
            Self::Contended { .. } => "index_contended",
            Self::Busy { .. } => "cluster_busy",
            Self::CredentialGone { .. } => "credential_gone",
            Self::CredentialRefused { .. } => "credential_refused",
            Self::Cluster { failure, .. } => failure.code(),
        }
    }

    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Bound(refused) => refused.hint(),
            Self::Kms { source, .. } => source.hint(),
            Self::IndexCorrupt { .. } => "Ask who runs the KMS to restore an earlier version of it.",
            Self::IndexNewer { .. } => "Update Muster.",
            Self::Behind { .. } => {
                "Try again in a moment. If the KMS was restored from a backup, sign out and in again."
            }
            Self::Contended { .. } => "Try again.",
            Self::Busy { .. } => "Wait for it to end, two minutes at most, and try again.",
            Self::CredentialGone { .. } | Self::CredentialRefused { .. } => {
                "Register the cluster again with a current kubeconfig."
            }
            Self::Cluster { failure, .. } => match failure {
                ClusterFailure::Unauthenticated => "Fetch a current kubeconfig for it and register it again.",
                ClusterFailure::Forbidden { .. } => {
                    "Use a credential with this right, or bound the registration to its namespaces."
                }
                ClusterFailure::Unreachable { .. } => {
                    "Check the network or VPN and the address, and try again."
                }
                ClusterFailure::Failed { .. } => "Check that the address is the API server itself.",
            },
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Kms { source, .. } => source.retryable(),
            Self::Behind { .. } | Self::Contended { .. } | Self::Busy { .. } => true,
            Self::Cluster { failure, .. } => matches!(failure, ClusterFailure::Unreachable { .. }),
            _ => false,
        }
    }
}
