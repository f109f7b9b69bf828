//! Addresses that a deployment or a provider names.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use url::{Host, Url};

/// An `https` URL, or `http` to loopback (a provider on this computer, as in the demo and in tests).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeUrl(Url);

impl SafeUrl {
    /// The URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The URL as the standard spells it: a bare host ends in a slash.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// `host` or `host:port`, for people.
    pub fn host_port(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Checks a URL.
    ///
    /// # Errors
    /// What is wrong, in words. The words do not repeat a URL that may hold a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|_| format!("“{}” is not a URL", shown(text)))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a URL here must not carry a user name or password".into());
        }
        let loopback = match url.host() {
            Some(Host::Ipv4(v4)) => v4.is_loopback(),
            Some(Host::Ipv6(v6)) => v6.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => return Err(format!("“{}” has no host", shown(text))),
        };
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if loopback => Ok(Self(url)),
            _ => Err(format!("“{}” has to begin with https://", shown(text))),
        }
    }

    /// Checks the address of a service: it takes paths of ours, so it must not end in a query or a fragment.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse_base(text: &str) -> Result<Self, String> {
        let url = Self::parse(text)?;
        if url.0.query().is_some() || url.0.fragment().is_some() {
            return Err("an address here must not have a query (?) or a fragment (#)".into());
        }
        Ok(url)
    }
}

impl<'de> Deserialize<'de> for SafeUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse_base(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Text of a file or a server as far as a message has room for it, without control characters, and without whatever
/// stands before an `@`: that may be a password.
fn shown(text: &str) -> String {
    let text = text.rsplit('@').next().unwrap_or_default();
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_loopback_pass() {
        for good in [
            "https://id.example",
            "https://id.example/realms/x",
            "http://127.0.0.1:8200",
            "http://[::1]:1",
            "http://localhost:3",
        ] {
            assert!(SafeUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://id.example",
            "http://localhost.example",
            "http://127.0.0.1.example",
            "http://0.0.0.0",
            "http://10.0.0.1",
            "ftp://id.example",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "id.example",
            "",
        ] {
            assert!(SafeUrl::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_refused_and_not_repeated() {
        for url in ["https://me:hunter2@id.example", "http://me:hunter2@id.example", "me:hunter2@id.example"]
        {
            let refused = SafeUrl::parse(url).expect_err("it is no address of a service");
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn the_address_of_a_service_has_no_query() {
        assert!(SafeUrl::parse_base("https://id.example?x=1").is_err());
        assert!(SafeUrl::parse_base("https://id.example#x").is_err());
        assert!(
            SafeUrl::parse("https://id.example/jwks?p=flow").is_ok(),
            "endpoints of providers may have one"
        );
    }
}
