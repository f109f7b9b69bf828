//! Why a read has no answer.
//!
//! The rules of [`super::error`] hold: no body, no header, no part of a credential. A server's own message is bounded
//! and printable before it gets here.

use std::time::Duration;

use jiff::SignedDuration;

use super::{ConnectError, Stage};

/// Why a read has no answer. `server` is always `host:port`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No connection came about.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The answer took longer than its budget.
    #[error("{server} took too long: {stage} was given up after {} s.", .after.as_secs())]
    Timeout {
        /// The API server.
        server: String,
        /// Which step.
        stage: Stage,
        /// Its budget.
        after: Duration,
    },
    /// The connection broke in the middle.
    #[error("The connection to {server} broke before the answer was whole ({detail}).")]
    Broken {
        /// The API server.
        server: String,
        /// What happened.
        detail: String,
    },
    /// 401: the credential is not accepted.
    #[error("{server} does not accept the registered credential (401).{}", skew_words(.skew))]
    Unauthorized {
        /// The API server.
        server: String,
        /// How far the server's clock is ahead of this computer's, where that is worth saying.
        skew: Option<SignedDuration>,
    },
    /// 403: the credential may not do this.
    #[error("{server} does not allow this to the registered credential (403): {message}")]
    Forbidden {
        /// The API server.
        server: String,
        /// The server's message.
        message: String,
    },
    /// 404: no such object, or no such kind of object.
    #[error("{server} does not have {what} (404).")]
    NotFound {
        /// The API server.
        server: String,
        /// The path that was asked for.
        what: String,
    },
    /// 410: the version or page asked for is no longer kept.
    #[error("{server} no longer keeps the version of the list that was being read (410).")]
    Gone {
        /// The API server.
        server: String,
    },
    /// 429: the server asks to wait.
    #[error("{server} is busy and asks to wait{}.", wait_words(.retry_after))]
    RateLimited {
        /// The API server.
        server: String,
        /// How long, where it says.
        retry_after: Option<Duration>,
    },
    /// 5xx.
    #[error("{server} failed with status {status}: {message}")]
    Server {
        /// The API server.
        server: String,
        /// The status.
        status: u16,
        /// The server's message, or the status in words.
        message: String,
    },
    /// Another refusal.
    #[error("{server} refused the request with status {status}: {message}")]
    Rejected {
        /// The API server.
        server: String,
        /// The status.
        status: u16,
        /// The server's message, or the status in words.
        message: String,
    },
    /// 3xx. Never followed: the credential stays with the host that was registered.
    #[error("{server} answered with a redirect to {to}, which is not followed: API servers do not redirect.")]
    Redirected {
        /// The API server.
        server: String,
        /// The host that the redirect names.
        to: String,
    },
    /// Something that is not Kubernetes answered.
    #[error(
        "A proxy or portal answered in place of Kubernetes at {server}: status {status}, {content_type} instead of JSON."
    )]
    NotKubernetes {
        /// The API server.
        server: String,
        /// The status.
        status: u16,
        /// The content type it gave.
        content_type: String,
    },
    /// A cap was passed; reading stopped there.
    #[error("The answer of {server} is larger than Muster reads: {what} is over {limit}.")]
    TooLarge {
        /// The API server.
        server: String,
        /// What is too large.
        what: &'static str,
        /// The cap.
        limit: u64,
    },
    /// The answer is not the JSON it should be.
    #[error("The answer of {server} cannot be understood: {what} at byte {offset}.")]
    Decode {
        /// The API server.
        server: String,
        /// What is wrong, without any text of the body.
        what: &'static str,
        /// Where, in bytes from the start of the (decompressed) body.
        offset: u64,
    },
    /// Another kind of object than was asked for.
    #[error("{server} answered with another kind of object than was asked for ({expected}).")]
    WrongKind {
        /// The API server.
        server: String,
        /// What was asked for.
        expected: &'static str,
    },
    /// The server's pages lead in a circle.
    #[error("The list of {server} never ends: a page leads back to one that was already read.")]
    ContinueLoop {
        /// The API server.
        server: String,
    },
}

fn skew_words(skew: &Option<SignedDuration>) -> String {
    match skew {
        Some(skew) if skew.is_negative() => format!(" Its clock is {:#} behind this computer's.", skew.abs()),
        Some(skew) => format!(" Its clock is {skew:#} ahead of this computer's."),
        None => String::new(),
    }
}

fn wait_words(wait: &Option<Duration>) -> String {
    wait.map(|wait| format!(" for {} s", wait.as_secs())).unwrap_or_default()
}

impl ReadError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Connect(error) => error.code(),
            Self::Timeout { .. } => "timeout",
            Self::Broken { .. } => "connection_broken",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::NotFound { .. } => "not_found",
            Self::Gone { .. } => "gone",
            Self::RateLimited { .. } => "rate_limited",
            Self::Server { .. } => "server",
            Self::Rejected { .. } => "rejected",
            Self::Redirected { .. } => "redirected",
            Self::NotKubernetes { .. } => "not_kubernetes",
            Self::TooLarge { .. } => "too_large",
            Self::Decode { .. } => "decode",
            Self::WrongKind { .. } => "wrong_kind",
            Self::ContinueLoop { .. } => "continue_loop",
        }
    }

    /// What the person can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Connect(error) => error.hint(),
            Self::Timeout { .. } | Self::Broken { .. } => {
                "Try again; if it stays so, check the network and the API server's load."
            }
            Self::Unauthorized { .. } => {
                "The credential expired or was revoked: register the cluster anew with a current kubeconfig."
            }
            Self::Forbidden { .. } => "Ask who runs the cluster to grant the permission to this credential.",
            Self::NotFound { .. } => "It may have been deleted, or this cluster does not serve that API.",
            Self::Gone { .. } | Self::RateLimited { .. } | Self::Server { .. } => "Try again a little later.",
            Self::Rejected { .. } => "The server's message says why.",
            Self::Redirected { .. } | Self::NotKubernetes { .. } => {
                "Sign in to the network's portal or VPN if it has one, and check the server address."
            }
            Self::TooLarge { .. }
            | Self::Decode { .. }
            | Self::WrongKind { .. }
            | Self::ContinueLoop { .. } => {
                "Check that the address is that of a Kubernetes API server, without anything that rewrites its answers."
            }
        }
    }

    /// Whether the same request may work a little later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connect(error) => error.is_retryable(),
            Self::Timeout { .. }
            | Self::Broken { .. }
            | Self::Gone { .. }
            | Self::RateLimited { .. }
            | Self::Server { .. } => true,
            _ => false,
        }
    }
}
