//! Texts that are borrowed from an item's bytes while it is read.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

/// A JSON string, copied only where it has escapes. (`serde` borrows a bare `Cow` field, but not one inside an `Option`;
/// this type makes it do so.)
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Text<'_> {
    /// The text as a row keeps it.
    pub fn boxed(&self) -> Box<str> {
        Box::from(self.0.as_ref())
    }
}

/// The text, where there is one that is not empty: the API leaves fields out or writes `""` for the same thing.
pub fn filled<'t>(text: &'t Option<Text<'_>>) -> Option<&'t str> {
    text.as_ref().map(|text| text.0.as_ref()).filter(|text| !text.is_empty())
}

/// [`filled`], as a row keeps it.
pub fn kept(text: &Option<Text<'_>>) -> Option<Box<str>> {
    filled(text).map(Box::from)
}

/// An instant (RFC 3339); what is none counts as absent.
pub fn instant(text: &Option<Text<'_>>) -> Option<Timestamp> {
    filled(text).and_then(|text| text.parse().ok())
}

/// A sentence of the cluster for people: on one line and no longer than `limit` characters.
pub fn sentence(text: &str, limit: usize) -> Option<Box<str>> {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    if let Some((cut, _)) = out.char_indices().nth(limit) {
        out.truncate(cut);
        out.push('…');
    }
    (!out.is_empty()).then(|| out.into())
}
