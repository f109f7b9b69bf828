//! The kubeconfig gate: what may be sealed and dialled, judged before anything is dialled, run or read from disk.
//!
//! [`inspect`] judges a dropped file, context by context; [`Inspection::cut`] yields the proof type
//! [`SafeKubeconfig`]; [`SafeKubeconfig::admit`] puts a credential that comes back from the KMS through the same gate,
//! since what lies there may have been written by another program.
//!
//! Invariants: nothing here opens a file, resolves a name or starts a program; no message holds a value that could be
//! a credential; every context is judged by itself and every fault is told.
//!
//! Deliberately absent: merging files, `KUBECONFIG`, and any way to go on in spite of a refusal.

mod certificate;
mod cluster;
mod cut;
mod document;
mod encoding;
mod field;
mod findings;
mod judge;
mod key;
mod lenient;
mod material;
mod name;
mod printable;
mod provider;
mod refusal;
mod server;
mod token;
mod user;
mod way_out;

use jiff::{SignedDuration, Timestamp};

pub use cut::SafeKubeconfig;
pub use encoding::MAX_FILE_BYTES;
pub use printable::printable;
pub use refusal::{Refusal, Refusals};

use crate::endpoint::EndpointPolicy;
use document::Document;

/// What ends within this time is warned about.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How far this computer's clock may lag behind the one that issued a credential: a token made a moment ago would
/// otherwise count as not yet valid.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// What a context authenticates with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialKind {
    /// A bearer token.
    Token,
    /// A client certificate with its key.
    ClientCertificate,
    /// Refused: a program of the file's choosing.
    ExecPlugin,
    /// Refused: a legacy plugin.
    AuthProvider,
    /// Refused: user name and password.
    BasicAuth,
}

impl CredentialKind {
    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::ClientCertificate => "client certificate",
            Self::ExecPlugin => "exec plugin",
            Self::AuthProvider => "auth-provider plugin",
            Self::BasicAuth => "user name and password",
        }
    }
}

/// Something to know about a context that may be registered all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The credential ends within 30 days.
    #[error("The {what} expires on {at}. Register the cluster again with a new one before then.")]
    ExpiresSoon {
        /// `client certificate` or `token`.
        what: &'static str,
        /// When.
        at: Timestamp,
    },
    /// The authority ends within 30 days.
    #[error("The cluster's certificate authority expires on {at}.")]
    CaExpiresSoon {
        /// When.
        at: Timestamp,
    },
    /// A namespace that Kubernetes could not have; it is left out.
    #[error("The context's namespace “{namespace}” cannot be a namespace's name; it is left out.")]
    BadNamespace {
        /// The name.
        namespace: String,
    },
    /// The cluster is reached through a proxy, which then resolves its name.
    #[error("The cluster is reached through the proxy {proxy}, which decides what the server's name means.")]
    Proxy {
        /// `host:port`.
        proxy: String,
    },
    /// An X.509 version 1 certificate, as older MicroK8s releases issue.
    #[error("The client certificate is of X.509 version 1. Some servers refuse that; the check will tell.")]
    X509V1,
}

impl Warning {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ExpiresSoon { .. } => "expires_soon",
            Self::CaExpiresSoon { .. } => "ca_expires_soon",
            Self::BadNamespace { .. } => "bad_namespace",
            Self::Proxy { .. } => "proxy",
            Self::X509V1 => "x509_v1",
        }
    }
}

/// The authority that signs the API server's certificate, as the file holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Its common name, or its whole name where it has none.
    pub subject: String,
    /// When it ends.
    pub expires: Timestamp,
}

/// One context with its verdict. Everything here may be shown.
#[derive(Debug, Clone)]
pub struct Context {
    /// Its name, printable; contexts of different keys have different ones.
    pub name: String,
    /// Its name, verbatim, to cut by.
    pub key: String,
    /// Whether it is the file's current-context.
    pub current: bool,
    /// A name for the registration; passes the name rule, and differs from those of other clusters in the file.
    pub suggested_name: String,
    /// The API server as `host:port`, with the path where there is one; also where it is refused.
    pub endpoint: Option<String>,
    /// The namespace it names; a name that Kubernetes could have.
    pub namespace: Option<String>,
    /// What it authenticates with.
    pub credential: Option<CredentialKind>,
    /// When its token or certificate expires, whichever is earlier.
    pub expires: Option<Timestamp>,
    /// The cluster's authority; `None` where the operating system's authorities are trusted.
    pub authority: Option<Authority>,
    /// Provider, where the file tells.
    pub provider: Option<&'static str>,
    /// Everything that speaks against it; empty where it may be registered.
    pub refusals: Vec<Refusal>,
    /// What the person should know.
    pub warnings: Vec<Warning>,
}

/// A file, judged. It keeps the document (wiped when dropped), so that a context can be cut out of it later.
pub struct Inspection {
    document: Document,
    policy: EndpointPolicy,
    contexts: Vec<Context>,
}

impl std::fmt::Debug for Inspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspection").field("contexts", &self.contexts).finish_non_exhaustive()
    }
}

/// Judges a file's bytes.
///
/// # Errors
/// The one [`Refusal`] that speaks against the file as a whole.
pub fn inspect(file: &[u8], policy: EndpointPolicy, now: Timestamp) -> Result<Inspection, Refusal> {
    let document = document::parse(&encoding::decode(file)?)?;
    let mut contexts = judge::Bench::new(&document, policy, now).all();
    name::tell_apart(&mut contexts);
    name::set_apart(&mut contexts);
    Ok(Inspection { document, policy, contexts })
}

impl Inspection {
    /// The contexts, in the file's order.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// Cuts the file to one context (by its [`Context::key`]), judged anew at this moment.
    ///
    /// # Errors
    /// Everything that speaks against the context.
    pub fn cut(&self, key: &str, now: Timestamp) -> Result<SafeKubeconfig, Refusals> {
        // Never by the shown name: the key of one context may read like the shown name of another.
        match self.contexts.iter().position(|context| context.key == key) {
            Some(at) => judge::Bench::new(&self.document, self.policy, now).cut(at),
            None => Err(Refusals(vec![Refusal::NoContext])),
        }
    }
}

impl SafeKubeconfig {
    /// Puts a sealed credential through the gate again. Of several contexts (the original service seals a file whole)
    /// the current-context counts, and where that is missing, the only one.
    ///
    /// # Errors
    /// Everything that speaks against it.
    pub fn admit(sealed: &[u8], policy: EndpointPolicy, now: Timestamp) -> Result<Self, Refusals> {
        let inspection = inspect(sealed, policy, now).map_err(|refusal| Refusals(vec![refusal]))?;
        let chosen = match inspection.contexts() {
            [only] => only,
            several => several
                .iter()
                .find(|context| context.current)
                .ok_or_else(|| Refusals(vec![Refusal::NoCurrentContext]))?,
        };
        inspection.cut(&chosen.key, now)
    }
}
