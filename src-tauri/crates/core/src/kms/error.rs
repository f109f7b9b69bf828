//! Why the KMS did not do what was asked.
//!
//! Invariants: absence is never an error (see [`super::Kms::get`]); no variant holds a token, a value or a body that a
//! server sent. Texts of a server are matched against known ones and replaced by our own words.

use std::time::Duration;

use super::Version;
use crate::tenant::Org;

/// Why the KMS did not do what was asked. Every variant is a different answer and is shown as one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KmsError {
    /// The KMS does not accept who the person is, even after signing in to it anew.
    #[error("the KMS did not accept your sign-in: {why}")]
    Unauthenticated {
        /// Why, in words.
        why: String,
    },
    /// The person is known, and may not do this.
    #[error("the KMS does not let you {what}")]
    Forbidden {
        /// What was tried, as a verb phrase.
        what: String,
    },
    /// Somebody else wrote in between (compare-and-set).
    #[error("the document changed in the KMS while it was being written")]
    Conflict {
        /// The version that is there now, where the KMS told.
        current: Option<Version>,
    },
    /// More than the KMS stores in one value.
    #[error("the value has {size} bytes, and the KMS stores at most {max}")]
    TooLarge {
        /// The value's size in bytes.
        size: usize,
        /// The largest size in bytes.
        max: usize,
    },
    /// The KMS runs and is sealed: an operator has to unseal it.
    #[error("the KMS is sealed")]
    Sealed,
    /// Nobody answered, not in time, or only to say "later".
    #[error("the KMS is unreachable: {why}")]
    Unavailable {
        /// Why, in words.
        why: String,
        /// How long the KMS asked to wait.
        retry_after: Option<Duration>,
    },
    /// Too many requests.
    #[error("the KMS asks to slow down")]
    RateLimited {
        /// How long the KMS asked to wait.
        retry_after: Option<Duration>,
    },
    /// The deployment and the KMS do not fit together: a wrong mount, namespace, role or address.
    #[error("the KMS and this deployment's settings do not fit together: {what}")]
    Misconfigured {
        /// What does not fit.
        what: String,
    },
    /// The KMS says that the person belongs to another org than the session does, or a ref of another org was used.
    #[error("the KMS answered for the organisation “{named}”, and this session acts for “{expected}”")]
    WrongOrg {
        /// The org that the KMS (or the ref) names, made printable.
        named: String,
        /// The session's org.
        expected: Org,
    },
    /// The connection could not be made private: an unknown authority, a wrong name, an expired certificate.
    #[error("the KMS could not prove who it is: {why}")]
    Tls {
        /// Why, in words.
        why: String,
    },
    /// An answer that is none: HTML, a redirect, an oversized or cut body, a document of another shape.
    #[error("the KMS answered in a way that cannot be used: {what}")]
    Protocol {
        /// What was wrong with it.
        what: String,
    },
    /// The session was closed.
    #[error("the session with the KMS is closed")]
    Closed,
}

impl KmsError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthenticated { .. } => "kms_unauthenticated",
            Self::Forbidden { .. } => "kms_forbidden",
            Self::Conflict { .. } => "kms_conflict",
            Self::TooLarge { .. } => "kms_too_large",
            Self::Sealed => "kms_sealed",
            Self::Unavailable { .. } => "kms_unavailable",
            Self::RateLimited { .. } => "kms_rate_limited",
            Self::Misconfigured { .. } => "kms_misconfigured",
            Self::WrongOrg { .. } => "kms_wrong_org",
            Self::Tls { .. } => "kms_tls",
            Self::Protocol { .. } => "kms_protocol",
            Self::Closed => "kms_closed",
        }
    }

    /// What the person can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unauthenticated { .. } | Self::Closed => "Sign in again.",
            Self::Forbidden { .. } => "Ask who runs the KMS to give your role this right.",
            Self::Conflict { .. } => "Try again.",
            Self::TooLarge { .. } => {
                "Cut the kubeconfig to one context, or deregister clusters that are gone."
            }
            Self::Sealed => "Ask who runs the KMS to unseal it; nothing is lost meanwhile.",
            Self::Unavailable { .. } => "Check the network or VPN and try again; nothing is lost meanwhile.",
            Self::RateLimited { .. } => "Wait a moment and try again.",
            Self::Misconfigured { .. } => "Show this to who keeps the deployment file.",
            Self::WrongOrg { .. } => "Sign out and in again; if it stays, show this to who runs the KMS.",
            Self::Tls { .. } => {
                "Put the KMS's CA certificate into the deployment file, or check the address."
            }
            Self::Protocol { .. } => "Check that the address in the deployment file is the KMS itself.",
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Self::Conflict { .. } | Self::Sealed | Self::Unavailable { .. } | Self::RateLimited { .. }
        )
    }

    /// Whether a write that failed so may have been carried out all the same.
    pub fn may_have_been_applied(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Protocol { .. } | Self::Tls { .. })
    }
}
