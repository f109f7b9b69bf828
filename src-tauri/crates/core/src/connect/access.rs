//! What the registered credential may do, as the cluster itself answers it (SelfSubjectAccessReview).
//!
//! Deliberately absent: deriving rights from roles and bindings. Webhook and cloud authorizers know more than those.

use super::Resource;

/// A verb of the API's authorisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one.
    Get,
    /// Read many.
    List,
    /// Follow changes.
    Watch,
    /// Make one (`pods/eviction` for a drain).
    Create,
    /// Change one.
    Patch,
    /// Remove one.
    Delete,
}

impl Verb {
    /// As it stands in a review.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// "May I?"
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessQuestion {
    /// Which verb.
    pub verb: Verb,
    /// Which kind.
    pub resource: Resource,
    /// `log`, `eviction`, ...
    pub subresource: Option<&'static str>,
    /// In which namespace; `None` asks for all of them, or for a kind that has none.
    pub namespace: Option<String>,
}

/// The cluster's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessAnswer {
    /// Whether it may.
    pub allowed: bool,
    /// The authorizer's reason, made printable, where it gives one.
    pub reason: Option<String>,
}
