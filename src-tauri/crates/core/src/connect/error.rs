//! Why a cluster did not answer, or answered in a way that cannot be used.
//!
//! Invariant: a text holds hosts, ports, dates, names of a certificate and the server's own message (bounded, made
//! printable, with the credential taken out); it never holds a body, a header or any part of a credential.
//!
//! Deliberately absent: retrying. An error says whether another try may help; who asked decides.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::endpoint::AddressRefused;

/// The step of a request that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Turning the host name into addresses.
    Resolve,
    /// Opening the TCP connection.
    Connect,
    /// Asking the proxy for a tunnel.
    Proxy,
    /// The TLS handshake.
    TlsHandshake,
    /// Waiting for the first byte of the answer.
    FirstByte,
    /// Waiting for the next bytes of the answer.
    Idle,
    /// One whole answer (one page of a list).
    Page,
    /// A whole list, over all of its pages.
    List,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resolve => "looking up its name",
            Self::Connect => "opening a connection",
            Self::Proxy => "waiting for the proxy to open a tunnel",
            Self::TlsHandshake => "agreeing on encryption (TLS)",
            Self::FirstByte => "waiting for an answer",
            Self::Idle => "waiting for the rest of an answer",
            Self::Page => "reading one answer",
            Self::List => "reading the whole list",
        })
    }
}

/// Why no connection to the API server came about. `server` is always `host:port`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The sealed kubeconfig cannot be turned into a client.
    #[error("The registered kubeconfig cannot be used: {what}.")]
    Kubeconfig {
        /// What is wrong, without any value of the file.
        what: String,
    },
    /// Nothing listens there.
    #[error("{server} refused the connection: nothing listens there.")]
    Refused {
        /// The API server.
        server: String,
    },
    /// A step took longer than its budget.
    #[error("{server} took too long: {stage} was given up after {} s.", .after.as_secs())]
    Timeout {
        /// The API server.
        server: String,
        /// Which step.
        stage: Stage,
        /// Its budget.
        after: Duration,
    },
    /// The name has no address.
    #[error("The name {host} could not be looked up ({detail}).")]
    Dns {
        /// The host name.
        host: String,
        /// The resolver's answer.
        detail: String,
    },
    /// The name leads to an address outside the deployment's policy. Nothing was dialled.
    #[error("{host} was not dialled: {refused}.")]
    AddressRefused {
        /// The host name, or the address itself.
        host: String,
        /// The address and why.
        refused: AddressRefused,
    },
    /// No route, a reset, or another network fault.
    #[error("{server} cannot be reached ({detail}).")]
    Unreachable {
        /// The API server.
        server: String,
        /// The operating system's words.
        detail: String,
    },
    /// The server's certificate is not signed by the CA of the kubeconfig.
    #[error("{server} shows a certificate that the CA in the kubeconfig did not sign.")]
    TlsUnknownCa {
        /// The API server.
        server: String,
    },
    /// The server's certificate is over.
    #[error("The certificate of {server} expired on {not_after}; this computer's clock says {now}.")]
    TlsExpired {
        /// The API server.
        server: String,
        /// The end of its validity.
        not_after: Timestamp,
        /// This computer's clock.
        now: Timestamp,
    },
    /// The server's certificate has not begun.
    #[error(
        "The certificate of {server} is valid only from {not_before} on; this computer's clock says {now}."
    )]
    TlsNotYetValid {
        /// The API server.
        server: String,
        /// The beginning of its validity.
        not_before: Timestamp,
        /// This computer's clock.
        now: Timestamp,
    },
    /// The server's certificate is for other names.
    #[error("{server} shows a certificate that is not for {expected}; it is for {}.", names(.presented))]
    TlsName {
        /// The API server.
        server: String,
        /// The name that was looked for (the host, or `tls-server-name`).
        expected: String,
        /// The names in the certificate.
        presented: Vec<String>,
    },
    /// The server refused the client certificate of the kubeconfig.
    #[error("{server} refused the client certificate of the kubeconfig ({detail}).")]
    TlsClientRefused {
        /// The API server.
        server: String,
        /// The TLS alert.
        detail: String,
    },
    /// Another fault of TLS.
    #[error("No encrypted connection to {server} came about ({detail}).")]
    Tls {
        /// The API server.
        server: String,
        /// The TLS library's words.
        detail: String,
    },
    /// The proxy of the kubeconfig did not help. There is no way round it.
    #[error("The proxy {proxy} of the kubeconfig opened no way to {server}: {detail}.")]
    Proxy {
        /// The API server.
        server: String,
        /// The proxy as `scheme://host:port`, without its credential.
        proxy: String,
        /// Why.
        detail: String,
    },
}

fn names(presented: &[String]) -> String {
    if presented.is_empty() { "no name at all".into() } else { presented.join(", ") }
}

impl ConnectError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Kubeconfig { .. } => "kubeconfig_unusable",
            Self::Refused { .. } => "refused",
            Self::Timeout { .. } => "timeout",
            Self::Dns { .. } => "dns",
            Self::AddressRefused { .. } => "address_refused",
            Self::Unreachable { .. } => "unreachable",
            Self::TlsUnknownCa { .. } => "tls_unknown_ca",
            Self::TlsExpired { .. } => "tls_expired",
            Self::TlsNotYetValid { .. } => "tls_not_yet_valid",
            Self::TlsName { .. } => "tls_name",
            Self::TlsClientRefused { .. } => "tls_client_refused",
            Self::Tls { .. } => "tls",
            Self::Proxy { .. } => "proxy",
        }
    }

    /// What the person can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Kubeconfig { .. } => "Register the cluster anew with a kubeconfig that kubectl accepts.",
            Self::Refused { .. } => "Check that the API server runs and that the port is right.",
            Self::Timeout { .. } | Self::Unreachable { .. } => {
                "Check the network: is the VPN up, and does the API server run?"
            }
            Self::Dns { .. } => "Check the network and the VPN; the name may be known only inside it.",
            Self::AddressRefused { .. } => {
                "If the address is right, ask who keeps the deployment file to widen endpoint_policy."
            }
            Self::TlsUnknownCa { .. } => {
                "If the cluster's CA was replaced, register the cluster anew with a current kubeconfig. Otherwise something stands between you and the cluster."
            }
            Self::TlsExpired { .. } | Self::TlsNotYetValid { .. } => {
                "Check this computer's clock; if it is right, the server's certificate must be renewed by who runs the cluster."
            }
            Self::TlsName { .. } => {
                "Use one of the certificate's names as the server address, or set tls-server-name in the kubeconfig, and register anew."
            }
            Self::TlsClientRefused { .. } => "Register the cluster anew with a current client certificate.",
            Self::Tls { .. } => "Check that the address is that of a Kubernetes API server.",
            Self::Proxy { .. } => {
                "Check the proxy of the kubeconfig (proxy-url); Muster never goes round it."
            }
        }
    }

    /// Whether the same request may work a little later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Refused { .. }
                | Self::Timeout { .. }
                | Self::Dns { .. }
                | Self::Unreachable { .. }
                | Self::Proxy { .. }
        )
    }
}

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
