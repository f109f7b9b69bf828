//! Who a call acts for: a verified person in one organisation.
//!
//! Invariant: a [`Tenant`] is made only from claims whose signature and audience were checked (see
//! [`crate::signin`]), and its org is one that those claims carry. Nothing else in the program can make one, so an
//! org can never arrive as an argument, a setting or a stored record.
//!
//! Deliberately absent: any constructor from strings outside tests (`for_tests`, behind the feature `test-support`, which
//! no build of the application turns on).

use std::fmt;

/// The longest org name accepted, in characters.
pub const MAX_ORG_LEN: usize = 63;

/// An organisation's name, verbatim as the identity provider spells it (never case-folded), and safe as one segment
/// of a KMS path: `^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Org(String);

/// The refusal of a name that cannot be an org.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the organisation name in your sign-in is not usable: 1-{MAX_ORG_LEN} characters of letters, digits, '-' and '_', starting with a letter or digit"
)]
pub struct OrgNameRefused;

impl Org {
    /// Checks a name taken from a verified claim.
    ///
    /// # Errors
    /// [`OrgNameRefused`] where the name is empty, too long or has a character that a KMS path gives a meaning to.
    pub fn parse(name: &str) -> Result<Self, OrgNameRefused> {
        let mut bytes = name.bytes();
        let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
        let goes_on_well = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if starts_well && goes_on_well && name.len() <= MAX_ORG_LEN {
            Ok(Self(name.to_owned()))
        } else {
            Err(OrgNameRefused)
        }
    }

    /// The name, verbatim.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Org {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A verified person acting in one organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    org: Org,
    issuer: String,
    subject: String,
    display_name: String,
}

impl Tenant {
    /// Only [`crate::signin`] calls this, with values out of a verified id token.
    pub(crate) fn from_verified(org: Org, issuer: String, subject: String, display_name: String) -> Self {
        Self { org, issuer, subject, display_name }
    }

    /// A person that nobody verified, for tests.
    #[cfg(any(test, feature = "test-support"))]
    #[must_use]
    pub fn for_tests(org: Org, subject: &str) -> Self {
        Self::from_verified(org, "https://idp.test".into(), subject.into(), subject.into())
    }

    /// The organisation the person acts in.
    pub fn org(&self) -> &Org {
        &self.org
    }

    /// The issuer that vouched for the person (`iss`, verbatim).
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The person's stable id at that issuer (`sub`).
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// A name for people: `name`, else `preferred_username`, else `email`, else the subject.
    pub fn display_name(&self) -> &str {
        &self.display_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_org_name_that_could_leave_its_path_segment_is_refused() {
        for name in ["", "..", "a/b", "a b", "-a", "_a", "a*", "a+", "a%2Fb", "ä", "a\0", &"a".repeat(64)] {
            assert!(Org::parse(name).is_err(), "{name:?} must not become a path segment");
        }
    }

    #[test]
    fn an_org_name_is_kept_verbatim() {
        for name in ["acme", "ACME", "a", "0_1-x", &"a".repeat(63)] {
            assert_eq!(Org::parse(name).map(|o| o.as_str().to_owned()), Ok(name.to_owned()));
        }
    }
}
