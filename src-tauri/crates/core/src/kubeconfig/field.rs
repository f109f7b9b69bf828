//! Which field of a kubeconfig a refusal is about.
//!
//! Invariant: a field's name as kubectl's own types spell it, never a value. Deliberately absent: where in the file it
//! stands; the context that was judged says that.

use super::refusal::Refusal;

impl Refusal {
    /// The field, as the kubeconfig spells it; `None` where the refusal is about the file as a whole.
    pub fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Empty | Self::TooLarge { .. } | Self::YamlBomb | Self::NotAKubeconfig { .. } => {
                return None;
            }
            Self::TooManyContexts { .. } | Self::NoContext => "contexts",
            Self::NoCurrentContext => "current-context",
            Self::Malformed { field, .. }
            | Self::FilePath { field }
            | Self::BadBase64 { field }
            | Self::BadPem { field, .. }
            | Self::Redacted { field, .. } => field,
            Self::DanglingReference { what, .. } | Self::NoReference { what } => what,
            Self::DuplicateName { what: "cluster", .. } => "clusters",
            Self::DuplicateName { what: "user", .. } => "users",
            Self::DuplicateName { .. } => "contexts",
            Self::ExecPlugin { .. } => "exec",
            Self::AuthProvider { .. } => "auth-provider",
            Self::BasicAuth => "username",
            Self::Impersonation => "as",
            Self::NoCredential { .. } => "user",
            Self::BadToken { .. } => "token",
            Self::InsecureTls => "insecure-skip-tls-verify",
            Self::NotHttps | Self::BadServer { .. } => "server",
            Self::BadTlsServerName => "tls-server-name",
            Self::Userinfo { what: "proxy address" } | Self::AddressRefused { what: "proxy", .. } => {
                "proxy-url"
            }
            Self::Userinfo { .. } | Self::AddressRefused { .. } => "server",
            Self::BadProxy { .. } => "proxy-url",
            Self::KeyEncrypted | Self::KeyMismatch => "client-key-data",
            Self::CredentialExpired { what: "token", .. }
            | Self::CredentialNotYetValid { what: "token", .. } => "token",
            Self::CredentialExpired { .. } | Self::CredentialNotYetValid { .. } => "client-certificate-data",
            Self::LeafAsCa { .. } | Self::CaNotYetValid { .. } | Self::CaExpired { .. } => {
                "certificate-authority-data"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_the_file_names_no_field_and_one_of_a_credential_names_where_it_stands() {
        assert_eq!(Refusal::Empty.field(), None);
        assert_eq!(Refusal::KeyMismatch.field(), Some("client-key-data"));
        let expired = |what| Refusal::CredentialExpired { what, at: jiff::Timestamp::UNIX_EPOCH };
        assert_eq!(expired("token").field(), Some("token"));
        assert_eq!(expired("client certificate").field(), Some("client-certificate-data"));
        assert_eq!(Refusal::Userinfo { what: "proxy address" }.field(), Some("proxy-url"));
    }
}
