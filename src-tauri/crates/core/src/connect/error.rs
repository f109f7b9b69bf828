//! Why no connection to a cluster came about.
//!
//! Invariant: a text holds hosts, ports, dates, names of a certificate and the server's own message (bounded, made
//! printable, with the credential taken out); it never holds a body, a header or any part of a credential.
//!
//! Deliberately absent: retrying. An error says whether another try may help; who asked decides.

use std::time::Duration;

use jiff::Timestamp;

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
