//! The one error that crosses to the web view, and how core errors become it.
//!
//! Invariant: `message` and `hint` are made for people and never hold a secret; the UI branches on `code` and `kind`
//! only. Deliberately absent: a catch-all made from any error's `Display`.

use muster_core::connect::ReadError;
use muster_core::deployment::DeploymentError;
use muster_core::kms::KmsError;
use muster_core::kubeconfig::Refusals;
use muster_core::registry::{BoundRefused, Refusal, RegistryError};
use muster_core::signin::SignInError;
use serde::Serialize;
use ts_rs::TS;

/// Which of the four different answers a failure is, and the two that are about the caller. The UI draws each its own
/// way and never as zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The thing is not there.
    Absent,
    /// It is there, and this person or credential may not have it.
    Forbidden,
    /// Nobody answered, or not in time.
    Unreachable,
    /// What was asked is refused by a rule of Muster's (a guard, a bound, a bad input).
    Refused,
    /// Nobody is signed in, or the session ended.
    SignedOut,
    /// It answered, and the answer is broken.
    Failed,
}

/// What happened, to what, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct AppError {
    /// A stable snake_case code.
    pub code: String,
    /// Which kind of answer this is.
    pub kind: ErrorKind,
    /// What happened, naming the cluster or file.
    pub message: String,
    /// What the person can do next, if anything.
    pub hint: Option<String>,
    /// Whether trying the same again may help.
    pub retryable: bool,
}

impl AppError {
    /// An error of this layer's own.
    pub fn new(code: &str, kind: ErrorKind, message: impl Into<String>, hint: &str) -> Self {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Self { code: code.to_owned(), kind, message: sentence(message.into()), hint, retryable: false }
    }

    fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Nobody is signed in.
    pub fn signed_out() -> Self {
        Self::new("signed_out", ErrorKind::SignedOut, "Nobody is signed in.", "Sign in.")
    }
}

/// Core errors read well inside longer sentences; alone they begin with a capital and end with a full stop.
fn sentence(text: String) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return text };
    let mut out: String = first.to_uppercase().chain(chars).collect();
    if !out.ends_with(['.', '!', '?', ')', '”']) {
        out.push('.');
    }
    out
}

impl From<RegistryError> for AppError {
    fn from(error: RegistryError) -> Self {
        Self::from(&error)
    }
}

impl From<&RegistryError> for AppError {
    fn from(error: &RegistryError) -> Self {
        let kind = match error {
            RegistryError::Refused(Refusal::NoTenant) => ErrorKind::SignedOut,
            RegistryError::Refused(Refusal::NoCluster { .. }) | RegistryError::CredentialGone { .. } => {
                ErrorKind::Absent
            }
            RegistryError::Kms { source, .. } => kms_kind(source),
            RegistryError::Cluster { failure, .. } => read_kind(failure),
            RegistryError::Behind { .. } | RegistryError::Contended { .. } | RegistryError::Busy { .. } => {
                ErrorKind::Unreachable
            }
            RegistryError::Corrupt { .. }
            | RegistryError::Newer { .. }
            | RegistryError::Interrupted { .. } => ErrorKind::Failed,
            _ => ErrorKind::Refused,
        };
        Self::new(error.code(), kind, error.to_string(), error.hint()).retryable(error.retryable())
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        RegistryError::from(refusal).into()
    }
}

impl From<BoundRefused> for AppError {
    fn from(refused: BoundRefused) -> Self {
        RegistryError::from(refused).into()
    }
}

impl From<Refusals> for AppError {
    fn from(refusals: Refusals) -> Self {
        RegistryError::from(refusals).into()
    }
}

impl From<KmsError> for AppError {
    fn from(error: KmsError) -> Self {
        Self::new(error.code(), kms_kind(&error), error.to_string(), error.hint())
            .retryable(error.retryable())
    }
}

impl From<&ReadError> for AppError {
    fn from(error: &ReadError) -> Self {
        Self::new(error.code(), read_kind(error), error.to_string(), error.hint())
            .retryable(error.is_retryable())
    }
}

impl From<SignInError> for AppError {
    fn from(error: SignInError) -> Self {
        let kind = match error {
            SignInError::ProviderUnreachable { .. } => ErrorKind::Unreachable,
            SignInError::ProviderBroken { .. } => ErrorKind::Failed,
            SignInError::SessionEnded | SignInError::SignedOut | SignInError::TimedOut => {
                ErrorKind::SignedOut
            }
            _ => ErrorKind::Refused,
        };
        Self::new(error.code(), kind, error.to_string(), error.hint()).retryable(error.retryable())
    }
}

impl From<DeploymentError> for AppError {
    fn from(error: DeploymentError) -> Self {
        Self::new(error.code(), ErrorKind::Refused, error.to_string(), "Mend the file, then import it again.")
    }
}

fn kms_kind(error: &KmsError) -> ErrorKind {
    match error {
        KmsError::Unauthenticated { .. } | KmsError::Closed => ErrorKind::SignedOut,
        KmsError::Forbidden { .. } | KmsError::WrongOrg { .. } => ErrorKind::Forbidden,
        KmsError::TooLarge { .. } => ErrorKind::Refused,
        KmsError::Misconfigured { .. } | KmsError::Protocol { .. } => ErrorKind::Failed,
        _ => ErrorKind::Unreachable,
    }
}

fn read_kind(error: &ReadError) -> ErrorKind {
    match error {
        ReadError::Unauthorized { .. } | ReadError::Forbidden { .. } => ErrorKind::Forbidden,
        ReadError::NotFound { .. } => ErrorKind::Absent,
        ReadError::Connect(connect) => match connect.code() {
            "kubeconfig_unusable" | "address_refused" => ErrorKind::Refused,
            _ => ErrorKind::Unreachable,
        },
        ReadError::Timeout { .. }
        | ReadError::Broken { .. }
        | ReadError::RateLimited { .. }
        | ReadError::Server { .. } => ErrorKind::Unreachable,
        _ => ErrorKind::Failed,
    }
}
