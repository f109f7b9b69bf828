//! Every reason to refuse a kubeconfig: a stable code, what is wrong, and the way out.
//!
//! Invariant: texts hold names and hosts of the file at most, with control characters escaped, and never a value that
//! could be a credential. Deliberately absent: a way to go on regardless.

use std::net::IpAddr;

use jiff::Timestamp;

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
    #[error("This is not a kubeconfig: {found}.")]
    NotAKubeconfig {
        /// What it is instead, in words.
        found: String,
    },
    /// A kubeconfig without contexts.
    #[error("The kubeconfig has no contexts, so it names no cluster.")]
    NoContext,
    /// The context names a cluster or user that the file lacks.
    #[error("The context names the {what} “{name}”, which the file does not have.")]
    DanglingReference {
        /// `cluster` or `user`.
        what: &'static str,
        /// The name.
        name: String,
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
    /// No token and no client certificate.
    #[error("The user has no credential: neither a token nor a client certificate with its key.")]
    NoCredential,
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
    /// Credentials inside a URL.
    #[error("The {what} has a user name or password inside it.")]
    Userinfo {
        /// `server address` or `proxy address`.
        what: &'static str,
    },
    /// An address outside the deployment's endpoint policy.
    #[error("The {what} is {address}, {class}, which this deployment's endpoint policy does not allow.")]
    AddressRefused {
        /// `server` or `proxy`.
        what: &'static str,
        /// The address.
        address: IpAddr,
        /// What kind of address.
        class: &'static str,
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
            Self::NoContext => "no_context",
            Self::DanglingReference { .. } => "dangling_reference",
            Self::DuplicateName { .. } => "duplicate_name",
            Self::ExecPlugin { .. } => "exec_plugin",
            Self::AuthProvider { .. } => "auth_provider",
            Self::FilePath { .. } => "file_path",
            Self::BasicAuth => "basic_auth",
            Self::Impersonation => "impersonation",
            Self::NoCredential => "no_credential",
            Self::InsecureTls => "insecure_tls",
            Self::NotHttps => "not_https",
            Self::BadServer { .. } => "bad_server",
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
            Self::CaExpired { .. } => "ca_expired",
        }
    }

    /// What the person can do.
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Empty | Self::NotAKubeconfig { .. } => {
                "Drop the kubeconfig file itself; kubectl keeps it at ~/.kube/config unless told otherwise."
            }
            Self::TooLarge { .. } => "Write the one context you want to a file of its own and drop that.",
            Self::YamlBomb => "Write the kubeconfig out anew with kubectl, which leaves no aliases in it.",
            Self::NoContext => "Write the context you use with kubectl into a file and drop that.",
            Self::DanglingReference { .. } | Self::DuplicateName { .. } => {
                "Mend the file, or write the context out with kubectl, which shows the same fault."
            }
            Self::ExecPlugin { .. }
            | Self::AuthProvider { .. }
            | Self::NoCredential
            | Self::Impersonation => {
                "Make a ServiceAccount with the rights you want to share, and register its token. The commands below do it."
            }
            Self::FilePath { .. } => "Embed the material into the file with --flatten and drop the result.",
            Self::BasicAuth => "Use a ServiceAccount's token or a client certificate.",
            Self::InsecureTls => {
                "Remove insecure-skip-tls-verify and put the cluster's CA into certificate-authority-data."
            }
            Self::NotHttps => "Use the https address of the API server.",
            Self::BadServer { .. } => {
                "Write the address as https://HOST:PORT, as `kubectl cluster-info` prints it."
            }
            Self::Userinfo { .. } => "Take the user name and password out of the address.",
            Self::AddressRefused { .. } => {
                "Use the address that your network reaches the API server at, or ask who keeps the deployment file to widen endpoint_policy."
            }
            Self::BadProxy { .. } => "Write the proxy as http://HOST:PORT or socks5://HOST:PORT.",
            Self::BadBase64 { .. } => {
                "Write the field as base64 text on one line, without a !!binary tag or a placeholder; kubectl does it."
            }
            Self::BadPem { .. } => {
                "Write the file out anew with kubectl, which embeds the material in PEM form."
            }
            Self::Redacted { .. } => "Print it again with --raw.",
            Self::KeyEncrypted => "Register a ServiceAccount's token instead, or a key without a passphrase.",
            Self::KeyMismatch => "Take certificate and key from the same issue, or write the file out anew.",
            Self::CredentialExpired { .. } => "Fetch a new credential for the cluster and drop the new file.",
            Self::CredentialNotYetValid { .. } => "Check this computer's clock; otherwise wait until then.",
            Self::LeafAsCa { .. } => {
                "Put the certificate of the authority that signed it (the last one `openssl s_client -showcerts` prints) into the field."
            }
            Self::CaExpired { .. } => "Ask who runs the cluster for its current CA certificate.",
        }
    }

    /// A command that helps, where there is one.
    pub fn command(&self) -> Option<&'static str> {
        match self {
            Self::Empty
            | Self::NotAKubeconfig { .. }
            | Self::TooLarge { .. }
            | Self::YamlBomb
            | Self::NoContext
            | Self::DanglingReference { .. }
            | Self::DuplicateName { .. }
            | Self::FilePath { .. }
            | Self::BadBase64 { .. }
            | Self::BadPem { .. }
            | Self::Redacted { .. } => {
                Some("kubectl config view --raw --flatten --minify --context=CONTEXT > to-register.yaml")
            }
            Self::ExecPlugin { .. }
            | Self::AuthProvider { .. }
            | Self::NoCredential
            | Self::Impersonation
            | Self::KeyEncrypted
            | Self::BasicAuth => Some(
                "kubectl create serviceaccount muster -n kube-system\n\
                 kubectl create clusterrolebinding muster-view --clusterrole=view --serviceaccount=kube-system:muster\n\
                 kubectl create clusterrole muster-nodes --verb=get,list,watch --resource=nodes\n\
                 kubectl create clusterrolebinding muster-nodes --clusterrole=muster-nodes --serviceaccount=kube-system:muster\n\
                 kubectl create token muster -n kube-system --duration=8760h",
            ),
            _ => None,
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

/// A name from a file, safe to print: control and direction-changing characters are escaped, length is bounded.
pub(crate) fn printable(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars().take(200) {
        let steers = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if character.is_control() || steers {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}
