//! Every reason to refuse a kubeconfig: a stable code and what is wrong. The way out is in [`super::way_out`].
//!
//! Invariant: texts hold names and hosts of the file at most, with control characters escaped, and never a value that
//! could be a credential. Deliberately absent: a way to go on regardless.

use jiff::Timestamp;

use crate::endpoint::AddressRefused;

/// One reason to refuse a file or a context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing but white space.
    #[error("The file is empty.")]
    Empty,
    /// Over [`super::MAX_FILE_BYTES`].
    #[error("The file has {size} bytes; a kubeconfig larger than {max} bytes is not read.")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// Aliases or nesting that would grow without bound.
    #[error("The file's YAML expands beyond what is safe to read (nested aliases or too deep nesting).")]
    YamlBomb,
    /// Not YAML or JSON, or another kind of document.
    #[error("This is not a kubeconfig that can be read: {found}.")]
    NotAKubeconfig {
        /// What it is instead, in words.
        found: String,
    },
    /// Over [`super::document::MAX_CONTEXTS`].
    #[error("The kubeconfig has {count} contexts; no more than {max} are judged.")]
    TooManyContexts {
        /// How many it has.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A kubeconfig without contexts.
    #[error("The kubeconfig has no contexts, so it names no cluster.")]
    NoContext,
    /// A sealed kubeconfig with several contexts, none of which is its current one.
    #[error("The kubeconfig has several contexts, and its current-context names none of them.")]
    NoCurrentContext,
    /// The wrong kind of YAML where another belongs.
    #[error("“{field}” holds {found}, where {wanted} belongs.")]
    Malformed {
        /// The field.
        field: &'static str,
        /// What stands there, in words.
        found: &'static str,
        /// What belongs there, in words.
        wanted: &'static str,
    },
    /// The context names a cluster or user that the file lacks.
    #[error("The context names the {what} “{name}”, which the file does not have.")]
    DanglingReference {
        /// `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The context names no cluster or no user.
    #[error("The context does not say which {what} it means.")]
    NoReference {
        /// `cluster` or `user`.
        what: &'static str,
    },
    /// Two entries of one name.
    #[error("The file has several {what} entries named “{name}”, so it is not clear which is meant.")]
    DuplicateName {
        /// `context`, `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An exec credential plugin.
    #[error(
        "The user gets its credential by running a program (“{command}”). Muster never runs a program that a file names."
    )]
    ExecPlugin {
        /// The command's name, without its arguments.
        command: String,
    },
    /// A legacy auth-provider plugin.
    #[error("The user relies on the “{name}” auth-provider plugin, which Kubernetes removed in 1.26.")]
    AuthProvider {
        /// The provider's name.
        name: String,
    },
    /// Material that lies in another file.
    #[error("“{field}” points to another file. Muster reads only the file it was given.")]
    FilePath {
        /// The field.
        field: &'static str,
    },
    /// A user name and password.
    #[error("The user has a user name and password, which no API server accepts since Kubernetes 1.19.")]
    BasicAuth,
    /// Acting as somebody else.
    #[error("The user acts as somebody else (impersonation: “as”), which a registration must not.")]
    Impersonation,
    /// No token and no client certificate, or one without its key.
    #[error("The user has no credential that can be used: {lacks}.")]
    NoCredential {
        /// What it lacks, in words.
        lacks: &'static str,
    },
    /// A token that no request can carry.
    #[error("“token” cannot be a token: {why}.")]
    BadToken {
        /// Why, in words.
        why: &'static str,
    },
    /// TLS verification switched off.
    #[error("The cluster entry switches TLS verification off (insecure-skip-tls-verify).")]
    InsecureTls,
    /// Plain http.
    #[error("The server address begins with http://, so a credential would travel in the open.")]
    NotHttps,
    /// Not an address.
    #[error("The server address cannot be used: {why}.")]
    BadServer {
        /// Why, in words.
        why: String,
    },
    /// A `tls-server-name` that no certificate can carry.
    #[error("“tls-server-name” is not a host name or an IP address.")]
    BadTlsServerName,
    /// Credentials inside a URL.
    #[error("The {what} has a user name or password inside it.")]
    Userinfo {
        /// `server address` or `proxy address`.
        what: &'static str,
    },
    /// An address outside the deployment's endpoint policy.
    #[error("The {what} is {}, {}, which {}.", .refused.address, .refused.class, .refused.allowed_by.why_not())]
    AddressRefused {
        /// `server` or `proxy`.
        what: &'static str,
        /// The address, and why.
        refused: AddressRefused,
    },
    /// A proxy address that cannot be used.
    #[error("The proxy address (proxy-url) cannot be used: {why}.")]
    BadProxy {
        /// Why.
        why: String,
    },
    /// A `-data` field that is not base64.
    #[error("“{field}” is not base64 text.")]
    BadBase64 {
        /// The field.
        field: &'static str,
    },
    /// Base64 of something else than PEM.
    #[error("“{field}” does not hold {wanted} in PEM form.")]
    BadPem {
        /// The field.
        field: &'static str,
        /// `a certificate` or `a private key`.
        wanted: &'static str,
    },
    /// `kubectl config view` without `--raw`.
    #[error("The file was printed with its secrets left out (“{marker}” stands where “{field}” should be).")]
    Redacted {
        /// The field.
        field: &'static str,
        /// The placeholder.
        marker: &'static str,
    },
    /// A passphrase-protected key.
    #[error("The client key is encrypted with a passphrase, which nobody could type at each use.")]
    KeyEncrypted,
    /// Key and certificate do not belong together.
    #[error("The client key does not belong to the client certificate.")]
    KeyMismatch,
    /// The certificate or token is over.
    #[error("The {what} expired on {at}.")]
    CredentialExpired {
        /// `client certificate` or `token`.
        what: &'static str,
        /// When.
        at: Timestamp,
    },
    /// The certificate or token has not begun.
    #[error("The {what} is valid only from {at} on. If that is in the past, this computer's clock is wrong.")]
    CredentialNotYetValid {
        /// `client certificate` or `token`.
        what: &'static str,
        /// When.
        at: Timestamp,
    },
    /// The server's own certificate where its issuer's should be.
    #[error(
        "“certificate-authority-data” holds a server's own certificate (“{subject}”), not the authority that signed it."
    )]
    LeafAsCa {
        /// The certificate's subject.
        subject: String,
    },
    /// No authority has begun.
    #[error("The cluster's certificate authority (“{subject}”) is valid only from {at} on.")]
    CaNotYetValid {
        /// The subject.
        subject: String,
        /// When.
        at: Timestamp,
    },
    /// Every authority is over.
    #[error("The cluster's certificate authority (“{subject}”) expired on {at}.")]
    CaExpired {
        /// The subject.
        subject: String,
        /// When.
        at: Timestamp,
    },
}

impl Refusal {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLarge { .. } => "too_large",
            Self::YamlBomb => "yaml_bomb",
            Self::NotAKubeconfig { .. } => "not_a_kubeconfig",
            Self::TooManyContexts { .. } => "too_many_contexts",
            Self::NoContext => "no_context",
            Self::NoCurrentContext => "no_current_context",
            Self::Malformed { .. } => "malformed",
            Self::DanglingReference { .. } | Self::NoReference { .. } => "dangling_reference",
            Self::DuplicateName { .. } => "duplicate_name",
            Self::ExecPlugin { .. } => "exec_plugin",
            Self::AuthProvider { .. } => "auth_provider",
            Self::FilePath { .. } => "file_path",
            Self::BasicAuth => "basic_auth",
            Self::Impersonation => "impersonation",
            Self::NoCredential { .. } => "no_credential",
            Self::BadToken { .. } => "bad_token",
            Self::InsecureTls => "insecure_tls",
            Self::NotHttps => "not_https",
            Self::BadServer { .. } => "bad_server",
            Self::BadTlsServerName => "bad_tls_server_name",
            Self::Userinfo { .. } => "userinfo",
            Self::AddressRefused { .. } => "address_refused",
            Self::BadProxy { .. } => "bad_proxy",
            Self::BadBase64 { .. } => "bad_base64",
            Self::BadPem { .. } => "bad_pem",
            Self::Redacted { .. } => "redacted",
            Self::KeyEncrypted => "key_encrypted",
            Self::KeyMismatch => "key_mismatch",
            Self::CredentialExpired { .. } => "credential_expired",
            Self::CredentialNotYetValid { .. } => "credential_not_yet_valid",
            Self::LeafAsCa { .. } => "leaf_as_ca",
            Self::CaNotYetValid { .. } => "ca_not_yet_valid",
            Self::CaExpired { .. } => "ca_expired",
        }
    }
}

/// Everything that speaks against one context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals(pub Vec<Refusal>);

impl std::fmt::Display for Refusals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, refusal) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{refusal}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusals {}
