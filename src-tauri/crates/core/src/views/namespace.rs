//! One namespace, as a row.

use jiff::Timestamp;
use serde::Deserialize;

use super::text::{Text, instant, kept};

/// A namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceRow {
    /// Name.
    pub name: Box<str>,
    /// `Active` or `Terminating`; `None` where the object itself may not be read.
    pub phase: Option<Box<str>>,
    /// When it was made.
    pub created: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    status: Option<Status<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, default)]
    creation_timestamp: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(borrow, default)]
    phase: Option<Text<'a>>,
}

impl NamespaceRow {
    /// Reads an item of a namespace list.
    ///
    /// # Errors
    /// The parser's, where the item is no namespace. Its text may quote the item; it is for counting, not for showing.
    pub fn from_item(item: &[u8]) -> Result<Self, serde_json::Error> {
        let wire: Wire<'_> = serde_json::from_slice(item)?;
        Ok(Self {
            name: wire.metadata.name.boxed(),
            phase: wire.status.and_then(|status| kept(&status.phase)),
            created: instant(&wire.metadata.creation_timestamp),
        })
    }

    /// A namespace of which nothing but the name is known: one of a registration's bound, whose object may not be read.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), phase: None, created: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_read_with_its_phase_and_age() {
        let item = br#"{"metadata":{"name":"team-a","creationTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Terminating"}}"#;
        let row = NamespaceRow::from_item(item).expect("a namespace");
        assert_eq!((&*row.name, row.phase.as_deref()), ("team-a", Some("Terminating")));
        assert_eq!(row.created.map(|t| t.to_string()).as_deref(), Some("2026-01-02T03:04:05Z"));
    }

    #[test]
    fn an_item_without_a_name_is_no_namespace() {
        assert!(NamespaceRow::from_item(br#"{"metadata":{}}"#).is_err());
        assert!(NamespaceRow::from_item(b"null").is_err());
    }
}
