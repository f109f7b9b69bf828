//! A cluster's name.
//!
//! Invariant: a name is a DNS label, because it becomes one segment of a KMS path: anything with `/`, `.` or an upper
//! bound of its own choosing could address other material. Deliberately absent: normalising. A name that does not fit
//! is refused, so that what a person typed is what is registered.

use std::fmt;

use super::Refusal;

/// The longest cluster name, in characters (RFC 1123 section 2.1, RFC 1035 section 2.3.4).
pub const MAX_NAME_LEN: usize = 63;

/// A cluster's name: 1-63 characters of `a-z`, `0-9` and `-`, with a letter or digit at both ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterName(String);

impl ClusterName {
    /// Checks a name. Blanks around it are not part of it.
    ///
    /// # Errors
    /// [`Refusal::Name`] where it is not a DNS label.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        let trimmed = name.trim();
        if is_dns_label(trimmed) {
            Ok(Self(trimmed.to_owned()))
        } else {
            Err(Refusal::Name { name: name.to_owned() })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ClusterName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// RFC 1123 label in lower case, the rule of Kubernetes for namespace names too.
pub(crate) fn is_dns_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty()
        && text.len() <= MAX_NAME_LEN
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// RFC 1123 subdomain in lower case, the rule of Kubernetes for the names of pods and most other objects: labels joined
/// by dots, at most 253 characters.
pub(crate) fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_leave_its_path_segment_is_refused() {
        for name in [
            "",
            " ",
            "-",
            "-a",
            "a-",
            "A",
            "a.b",
            "a/b",
            "..",
            "../x",
            "a_b",
            "a b",
            "ä",
            "a\0",
            "a\n b",
            "a%2Fb",
            &"a".repeat(64),
        ] {
            let refused = ClusterName::parse(name);
            assert!(matches!(refused, Err(Refusal::Name { .. })), "{name:?} must not become a path segment");
        }
    }

    #[test]
    fn a_dns_label_is_accepted_and_blanks_around_it_are_dropped() {
        for name in ["a", "0", "prod", "a-b", "a--b", "9z", &"a".repeat(63)] {
            assert_eq!(ClusterName::parse(name).map(|n| n.to_string()), Ok(name.to_owned()));
        }
        assert_eq!(ClusterName::parse("  prod\n").map(|n| n.to_string()), Ok("prod".to_owned()));
    }
}
