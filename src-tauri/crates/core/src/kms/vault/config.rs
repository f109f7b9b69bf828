//! Where a Vault or OpenBao server is and how Muster presents itself to it.
//!
//! Invariant: whatever is in here becomes a URL only after [`VaultConfig::check`], so no setting can add a path step,
//! a query or a second host. Deliberately absent: secrets. The configuration may be mailed around.

use url::{Host, Url};

use crate::kms::KmsError;
use crate::tenant::Org;

/// What a deployment says about its Vault or OpenBao.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultConfig {
    /// The server, `https://host[:port][/prefix]`; `http` for a loopback address only.
    pub url: Url,
    /// Where the KV engine is mounted, without slashes at the ends (`kv`, `team/kv`).
    pub mount: String,
    /// Where the JWT auth method is mounted (`jwt`).
    pub auth_mount: String,
    /// The role to log in with. `{org}` in it becomes the session's org.
    pub role: String,
    /// The namespace, where the server has them.
    pub namespace: Option<String>,
    /// The CA certificates to trust, in PEM form. Where given, they alone are trusted; otherwise the system's.
    pub ca_pem: Option<String>,
}

impl VaultConfig {
    /// Checks every part, naming the first that cannot be used.
    ///
    /// # Errors
    /// [`KmsError::Misconfigured`].
    pub fn check(&self) -> Result<(), KmsError> {
        self.check_url()?;
        check_path("mount", &self.mount)?;
        check_path("auth_mount", &self.auth_mount)?;
        if let Some(namespace) = &self.namespace {
            check_path("namespace", namespace)?;
        }
        let role = self.role.replace("{org}", "org");
        if role.is_empty() || !role.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
            return Err(misconfigured(
                "role must be letters, digits, '-', '_' and '.', with at most {org} in braces",
            ));
        }
        Ok(())
    }

    /// The role for this org.
    pub(super) fn role_for(&self, org: &Org) -> String {
        self.role.replace("{org}", org.as_str())
    }

    fn check_url(&self) -> Result<(), KmsError> {
        let url = &self.url;
        let loopback = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(_)) => false,
            None => return Err(misconfigured("url has no host")),
        };
        match url.scheme() {
            "https" => {}
            "http" if loopback => {}
            "http" => {
                return Err(misconfigured(
                    "url must begin with https://, or everything would travel in the open",
                ));
            }
            _ => return Err(misconfigured("url must begin with https://")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(misconfigured("url has a user name or password inside it"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(misconfigured("url has a query or a fragment"));
        }
        match url.path().trim_matches('/') {
            "" => Ok(()),
            prefix => check_path("the path of url", prefix),
        }
    }
}

/// A path of plain segments: nothing empty, no `.` or `..`, nothing that needs escaping.
fn check_path(field: &str, path: &str) -> Result<(), KmsError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let well_formed =
        path.split('/').all(|segment| !matches!(segment, "" | "." | "..") && segment.bytes().all(plain));
    if well_formed {
        Ok(())
    } else {
        Err(misconfigured(&format!(
            "{field} must be segments of letters, digits, '-', '_' and '.', joined by single slashes"
        )))
    }
}

fn misconfigured(what: &str) -> KmsError {
    KmsError::Misconfigured { what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> VaultConfig {
        VaultConfig {
            url: "https://kms.example/vault".parse().expect("a url"),
            mount: "team/kv".into(),
            auth_mount: "jwt".into(),
            role: "muster-{org}".into(),
            namespace: Some("eu/one".into()),
            ca_pem: None,
        }
    }

    #[test]
    fn a_plain_configuration_passes() {
        assert_eq!(config().check(), Ok(()));
    }

    #[test]
    fn a_setting_that_would_add_a_path_step_or_a_query_is_refused() {
        for bad in
            ["", "/kv", "kv/", "a//b", "..", "a/../b", "./a", "a?b", "a#b", "a b", "a%2fb", "a\\b", "ü"]
        {
            assert!(VaultConfig { mount: bad.into(), ..config() }.check().is_err(), "mount {bad:?}");
            assert!(
                VaultConfig { auth_mount: bad.into(), ..config() }.check().is_err(),
                "auth_mount {bad:?}"
            );
            assert!(
                VaultConfig { namespace: Some(bad.into()), ..config() }.check().is_err(),
                "namespace {bad:?}"
            );
        }
        for bad in ["", "a/b", "{x}", "a b", "{org"] {
            assert!(VaultConfig { role: bad.into(), ..config() }.check().is_err(), "role {bad:?}");
        }
    }

    #[test]
    fn a_url_that_would_send_a_token_in_the_open_or_elsewhere_is_refused() {
        for bad in [
            "http://kms.example",
            "http://10.0.0.1:8200",
            "http://localhost:8200",
            "ftp://kms.example",
            "https://user@kms.example",
            "https://user:pw@kms.example",
            "https://kms.example/?a=b",
            "https://kms.example/#x",
            "https://kms.example/a%2fb",
        ] {
            let config = VaultConfig { url: bad.parse().expect("a url"), ..config() };
            assert!(config.check().is_err(), "{bad}");
        }
        for good in ["http://127.0.0.1:8200", "http://[::1]:8200/", "https://10.0.0.1:8200"] {
            let config = VaultConfig { url: good.parse().expect("a url"), ..config() };
            assert_eq!(config.check(), Ok(()), "{good}");
        }
    }

    #[test]
    fn the_role_takes_the_org() {
        let org = Org::parse("acme").expect("a plain org");
        assert_eq!(config().role_for(&org), "muster-acme");
    }
}
