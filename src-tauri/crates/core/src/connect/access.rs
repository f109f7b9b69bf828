//! What the registered credential may do, as the cluster itself answers it (SelfSubjectAccessReview).
//!
//! Deliberately absent: deriving rights from roles and bindings. Webhook and cloud authorizers know more than those.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};

use super::Resource;
use crate::kubeconfig::printable;
use crate::registry::Namespace;

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
    pub namespace: Option<Namespace>,
}

/// The cluster's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessAnswer {
    /// Whether it may.
    pub allowed: bool,
    /// The authorizer's reason, made printable, where it gives one.
    pub reason: Option<String>,
}

/// The question in the API's form.
pub(super) fn review(question: &AccessQuestion) -> SelfSubjectAccessReview {
    let attributes = ResourceAttributes {
        group: Some(question.resource.group().to_owned()),
        namespace: question.namespace.as_ref().map(|namespace| namespace.as_str().to_owned()),
        resource: Some(question.resource.plural().to_owned()),
        subresource: question.subresource.map(str::to_owned),
        verb: Some(question.verb.as_str().to_owned()),
        ..Default::default()
    };
    SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() },
        ..Default::default()
    }
}

/// The API's answer. An explicit "denied" outweighs "allowed"; no status at all is a no.
pub(super) fn answer(review: SelfSubjectAccessReview) -> AccessAnswer {
    let status = review.status.unwrap_or_default();
    AccessAnswer {
        allowed: status.allowed && status.denied != Some(true),
        reason: status.reason.filter(|reason| !reason.is_empty()).map(|reason| printable(&reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::authorization::v1::SubjectAccessReviewStatus;

    #[test]
    fn only_a_plain_yes_is_a_yes() {
        let ask = |status| answer(SelfSubjectAccessReview { status, ..Default::default() }).allowed;
        let status =
            |allowed, denied| Some(SubjectAccessReviewStatus { allowed, denied, ..Default::default() });
        assert!(ask(status(true, None)));
        assert!(!ask(status(true, Some(true))), "an explicit denial wins");
        assert!(!ask(status(false, None)));
        assert!(!ask(None), "no answer is not a yes");
    }
}
