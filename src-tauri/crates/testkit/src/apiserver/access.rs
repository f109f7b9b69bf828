//! Who may do what: a small RBAC.

/// A way to prove who one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// A bearer token.
    Token(String),
    /// A client certificate with this common name.
    CommonName(String),
}

/// What somebody may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rights {
    /// Everything but secrets.
    ReadAll,
    /// What lies in these namespaces.
    Namespaces(Vec<String>),
}

/// Somebody.
#[derive(Debug, Clone)]
pub struct User {
    /// Name, as the server's messages spell it.
    pub name: String,
    /// How they prove it.
    pub proof: Proof,
    /// What they may do.
    pub rights: Rights,
}

impl User {
    /// Whether the user may read this.
    pub fn may_read(&self, plural: &str, namespace: Option<&str>) -> bool {
        if plural == "secrets" {
            return false;
        }
        match (&self.rights, namespace) {
            (Rights::ReadAll, _) => true,
            (Rights::Namespaces(allowed), Some(namespace)) => allowed.iter().any(|a| a == namespace),
            (Rights::Namespaces(_), None) => false,
        }
    }
}
