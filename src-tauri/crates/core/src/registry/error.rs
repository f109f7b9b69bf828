//! Why the registry could not do what was asked.
//!
//! Invariant: absent, forbidden, unreachable and broken stay four different answers, each with a code of its own.

use super::{BoundRefused, ClusterName, Refusal};
use crate::connect::ReadError;
use crate::kms::{KmsError, SecretRef};
use crate::kubeconfig::Refusals;

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
    /// The kubeconfig does not pass the gate.
    #[error(transparent)]
    Gate(#[from] Refusals),
    /// The KMS did not do its part.
    #[error("{doing}: {source}")]
    Kms {
        /// What was under way, naming the cluster where there is one.
        doing: String,
        /// What the KMS said.
        source: KmsError,
    },
    /// The index or the list of pending purges cannot be read. It is never overwritten in this state.
    #[error("{document} is damaged ({what}) and was left as it is")]
    Corrupt {
        /// Which document, in words.
        document: String,
        /// Where and how.
        what: String,
    },
    /// A document was written by a later version of this program. It is never overwritten.
    #[error("{document} was written by a newer version of Muster (format {found}; this one knows {known})")]
    Newer {
        /// Which document, in words.
        document: String,
        /// The format found.
        found: u64,
        /// The latest format known.
        known: u64,
    },
    /// The KMS answers with a state older than one it answered with before.
    #[error("the KMS answers with an older state of {document} than it did before")]
    Behind {
        /// Which document, in words.
        document: String,
    },
    /// Other writers were faster, every time.
    #[error("others kept changing {document} at the same moment")]
    Contended {
        /// Which document, in words.
        document: String,
    },
    /// Somebody else is registering or removing the same cluster.
    #[error("somebody is registering or removing cluster “{cluster}” right now")]
    Busy {
        /// The cluster.
        cluster: ClusterName,
    },
    /// It took so long that somebody else may have taken over.
    #[error("registering or removing cluster “{cluster}” took too long and was given up half-way")]
    Interrupted {
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
    #[error("the credential sealed for cluster “{cluster}” is refused: {refusals}")]
    CredentialRefused {
        /// The cluster.
        cluster: ClusterName,
        /// Everything that speaks against it.
        refusals: Refusals,
    },
    /// The cluster did not prove itself with the credential at hand.
    #[error("cluster “{cluster}”: {failure}")]
    Cluster {
        /// The cluster.
        cluster: ClusterName,
        /// How it failed.
        failure: ReadError,
    },
}

impl RegistryError {
    /// The KMS failed while this was done to that document.
    pub(super) fn kms(verb: &str, at: &SecretRef, source: KmsError) -> Self {
        Self::Kms { doing: format!("{verb} {}", at.words()), source }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Bound(refused) => refused.code(),
            Self::Gate(refusals) => refusals.0.first().map_or("kubeconfig_refused", |refusal| refusal.code()),
            Self::Kms { source, .. } => source.code(),
            Self::Corrupt { .. } => "index_corrupt",
            Self::Newer { .. } => "index_newer",
            Self::Behind { .. } => "kms_behind",
            Self::Contended { .. } => "index_contended",
            Self::Busy { .. } => "cluster_busy",
            Self::Interrupted { .. } => "interrupted",
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
            Self::Gate(refusals) => refusals.0.first().map_or("", |refusal| refusal.way_out()),
            Self::Kms { source, .. } => source.hint(),
            Self::Corrupt { .. } => "Ask who runs the KMS to restore an earlier version of it.",
            Self::Newer { .. } => "Update Muster.",
            Self::Behind { .. } => {
                "Try again in a moment. If the KMS was restored from a backup, sign out and in again."
            }
            Self::Contended { .. } | Self::Interrupted { .. } => "Try again.",
            Self::Busy { .. } => "Wait for it to end, two minutes at most, and try again.",
            Self::CredentialGone { .. } | Self::CredentialRefused { .. } => {
                "Register the cluster again with a current kubeconfig."
            }
            Self::Cluster { failure, .. } => failure.hint(),
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Kms { source, .. } => source.retryable(),
            Self::Behind { .. } | Self::Contended { .. } | Self::Busy { .. } | Self::Interrupted { .. } => {
                true
            }
            Self::Cluster { failure, .. } => failure.is_retryable(),
            _ => false,
        }
    }
}
