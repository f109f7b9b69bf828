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

mod cut;
mod document;
mod encoding;
mod judge;
mod material;
mod name;
mod refusal;
mod server;

use jiff::Timestamp;

pub use cut::SafeKubeconfig;
pub use encoding::MAX_FILE_BYTES;
pub(crate) use refusal::printable;
pub use refusal::{Refusal, Refusals};

use crate::endpoint::EndpointPolicy;
use document::Document;

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
            Self::Proxy { .. } => "proxy",
            Self::X509V1 => "x509_v1",
        }
    }
}

/// One context with its verdict. Everything here may be shown.
#[derive(Debug, Clone)]
pub struct Context {
    /// Its name, printable.
    pub name: String,
    /// Its name, verbatim, to cut by.
    pub key: String,
    /// Whether it is the file's current-context.
    pub current: bool,
    /// A name for the registration; passes the name rule.
    pub suggested_name: String,
    /// The API server as `host:port`.
    pub endpoint: Option<String>,
    /// The namespace it names.
    pub namespace: Option<String>,
    /// What it authenticates with.
    pub credential: Option<CredentialKind>,
    /// When its token or certificate expires, whichever is earlier.
    pub expires: Option<Timestamp>,
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
    let text = encoding::decode(file)?;
    let document = document::parse(&text)?;
    let count = document.contexts.as_ref().map_or(0, Vec::len);
    if count == 0 {
        return Err(Refusal::NoContext);
    }
    let bench = judge::Bench { document: &document, policy, now };
    let contexts = (0..count).map(|at| bench.judge(at).0).collect();
    Ok(Inspection { document, policy, contexts })
}

impl Inspection {
    /// The contexts, in the file's order.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// Cuts the file to one context (named verbatim or as printed), judged anew at this moment.
    ///
    /// # Errors
    /// Everything that speaks against the context.
    pub fn cut(&self, context: &str, now: Timestamp) -> Result<SafeKubeconfig, Refusals> {
        let Some(at) = self.contexts.iter().position(|c| c.key == context || c.name == context) else {
            return Err(Refusals(vec![Refusal::NoContext]));
        };
        judge::Bench { document: &self.document, policy: self.policy, now }.judge(at).1
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
                .ok_or_else(|| Refusals(vec![Refusal::NoContext]))?,
        };
        inspection.cut(&chosen.key, now)
    }
}
