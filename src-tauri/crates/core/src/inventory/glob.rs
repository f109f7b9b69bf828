//! Patterns in which `*` stands for any text, also none. Nothing else is special.

use serde::{Deserialize, Deserializer};

/// A pattern. The comparison is exact; callers fold the case of both where case is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    head: String,
    /// What follows each star; the last part must end the text.
    rest: Vec<String>,
}

impl Pattern {
    /// Reads a pattern.
    pub(super) fn new(text: &str) -> Self {
        let mut parts = text.split('*').map(str::to_owned);
        Self { head: parts.next().unwrap_or_default(), rest: parts.collect() }
    }

    /// The text that the pattern stands for, when it is the only one.
    pub(super) fn exact(&self) -> Option<&str> {
        self.rest.is_empty().then_some(&self.head)
    }

    /// Whether a text matches.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some(mut text) = text.strip_prefix(self.head.as_str()) else {
            return false;
        };
        let Some((tail, middle)) = self.rest.split_last() else {
            return text.is_empty();
        };
        for part in middle {
            match text.find(part.as_str()) {
                Some(at) => text = &text[at + part.len()..],
                None => return false,
            }
        }
        text.ends_with(tail.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("gpu*watch", "gpuxwatc", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_pattern_without_a_star_is_one_text() {
        assert_eq!(Pattern::new("abc").exact(), Some("abc"));
        assert_eq!(Pattern::new("a*").exact(), None);
    }
}
