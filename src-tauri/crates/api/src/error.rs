//! The one error that crosses to the web view.
//!
//! Invariant: `message` and `hint` are made for people and never hold a secret; the UI branches on `code` and `kind`
//! only. Deliberately absent: a catch-all made from any error's `Display`.

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
