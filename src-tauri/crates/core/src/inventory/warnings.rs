//! Warnings: what a reader must know beside the numbers.
//!
//! Each has a stable code; codes of one family carry their subject behind a colon (`gpu-condition:GPUMissing`). One
//! subject is warned about once per code, however many fields or objects say it.
//! Deliberately absent: any influence on the numbers. A number is right or unknown by itself.

use std::borrow::Cow;

use serde::Serialize;

use super::name::Name;
use super::quantity::Flaw;

/// How much a warning matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Explains a number.
    Info,
    /// A number may mislead, or somebody should look.
    Warning,
    /// Devices are lost, or a number is unknown.
    Error,
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Warning {
    /// Stable code.
    pub code: Cow<'static, str>,
    /// The node that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    /// The resource that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<Name>,
    /// How much it matters.
    pub severity: Severity,
    /// A sentence for people.
    pub text: String,
}

impl Warning {
    /// A warning about a cluster as a whole.
    pub fn of_cluster(
        code: impl Into<Cow<'static, str>>,
        severity: Severity,
        text: impl Into<String>,
    ) -> Self {
        Self { code: code.into(), node: None, resource: None, severity, text: text.into() }
    }

    /// A warning about a node.
    pub fn of_node(
        node: &Name,
        code: impl Into<Cow<'static, str>>,
        severity: Severity,
        text: impl Into<String>,
    ) -> Self {
        Self { node: Some(node.clone()), ..Self::of_cluster(code, severity, text) }
    }

    /// The same warning about one resource.
    pub fn about(self, resource: &Name) -> Self {
        Self { resource: Some(resource.clone()), ..self }
    }
}

/// Sorts warnings by code, node and resource, and keeps the first of each.
pub fn settle(warnings: &mut Vec<Warning>) {
    warnings.sort();
    warnings.dedup_by(|a, b| a.code == b.code && a.node == b.node && a.resource == b.resource);
}

/// The warning about a flawed quantity.
pub fn of_flaw(flaw: Flaw) -> (&'static str, Severity, &'static str) {
    match flaw {
        Flaw::NonString => (
            "quantity-non-string",
            Severity::Info,
            "The count is a JSON number; the API says text. It is used.",
        ),
        Flaw::Malformed => {
            ("quantity-malformed", Severity::Error, "The count cannot be read, so it is unknown.")
        }
        Flaw::Overflow => (
            "quantity-overflow",
            Severity::Error,
            "The count is larger than any count can be, so it is unknown.",
        ),
        Flaw::Fractional => {
            ("quantity-fractional", Severity::Warning, "The count is not whole; it is rounded down.")
        }
        Flaw::Negative => {
            ("quantity-negative", Severity::Warning, "The count is below zero and taken as zero.")
        }
    }
}
