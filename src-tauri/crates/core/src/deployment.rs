//! A deployment: which identity provider and which KMS an organisation uses. One TOML file each, without any secret.
//!
//! Invariant: an unknown key, a wrong type and an address that is not https (loopback apart) are errors that name the
//! line. Deliberately absent: the org. It comes from the verified identity, never from here.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use url::{Host, Url};

use crate::endpoint::EndpointPolicy;

/// The largest deployment file read, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Why a deployment cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeploymentError {
    /// The text is not a deployment.
    #[error("line {line}: {message}")]
    Invalid {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The file could not be read or written.
    #[error("{file}: {message}")]
    File {
        /// Its name.
        file: String,
        /// What the system says.
        message: String,
    },
}

impl DeploymentError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "deployment_invalid",
            Self::File { .. } => "deployment_file",
        }
    }
}

/// An `https` URL, or `http` to loopback (a provider on this computer, as in the demo and in tests).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeUrl(Url);

impl SafeUrl {
    /// The URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The URL as text, without a trailing slash that the file did not have.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// `host` or `host:port`, for people.
    pub fn host_port(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Checks a URL that a provider names.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|_| format!("“{text}” is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a URL here must not carry a user name or password".into());
        }
        let loopback = match url.host() {
            Some(Host::Ipv4(v4)) => v4.is_loopback(),
            Some(Host::Ipv6(v6)) => v6.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => return Err(format!("“{text}” has no host")),
        };
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if loopback => Ok(Self(url)),
            _ => Err(format!("“{text}” has to begin with https://")),
        }
    }
}

impl<'de> Deserialize<'de> for SafeUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Where the token carries the org.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrgClaim {
    /// JSON pointers (RFC 6901) into the id token's claims, tried in turn; all that are there are joined.
    pub pointers: Vec<String>,
    /// Keep only values in this `key` of a list of objects (Hanzo IAM: `org`).
    #[serde(default)]
    pub item_key: Option<String>,
}

impl Default for OrgClaim {
    fn default() -> Self {
        Self { pointers: vec!["/org".into(), "/orgs".into()], item_key: None }
    }
}

/// Which of the tokens the KMS login presents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KmsToken {
    /// The access token (a JWT with the KMS as its audience).
    #[default]
    Access,
    /// The id token.
    Id,
}

/// Kinds of KMS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KmsKind {
    /// HashiCorp Vault or OpenBao, KV version 2.
    Vault,
}

/// The organisation's KMS.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KmsSettings {
    /// Its kind.
    pub kind: KmsKind,
    /// Its address.
    pub url: SafeUrl,
    /// The KV mount.
    #[serde(default = "default_mount")]
    pub mount: String,
    /// The JWT auth mount.
    #[serde(default = "default_auth_mount")]
    pub auth_mount: String,
    /// The role; `{org}` in it stands for the session's org. One role per org is the safe set-up.
    #[serde(default = "default_role")]
    pub role: String,
    /// Vault Enterprise or OpenBao namespace.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Which token logs in.
    #[serde(default)]
    pub token: KmsToken,
    /// PEM of the authority that signed its certificate, where the system does not know it.
    #[serde(default)]
    pub ca: Option<String>,
}

fn default_mount() -> String {
    "kv".into()
}
fn default_auth_mount() -> String {
    "jwt".into()
}
fn default_role() -> String {
    "muster-{org}".into()
}

/// Identity providers whose usual settings are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Hanzo IAM: the org is `owner`, memberships are `orgs[].org`.
    Hanzo,
    /// Keycloak 26 and later: the `organization` claim.
    Keycloak,
    /// Entra ID: the tenant is the org; the browser has to come back to `localhost`.
    Entra,
    /// Okta: a custom `org` claim.
    Okta,
    /// Auth0: `org_id`; callback ports have to be registered.
    Auth0,
    /// Zitadel: the resource owner.
    Zitadel,
    /// Google: the hosted domain.
    Google,
    /// Dex: groups.
    Dex,
}

/// One deployment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deployment {
    /// The file's stem; set by whoever reads the file.
    #[serde(skip)]
    pub id: String,
    /// A title for people.
    pub title: String,
    /// Fills in what the file leaves out.
    #[serde(default)]
    pub preset: Option<Preset>,
    /// The issuer, verbatim as its tokens spell it.
    pub issuer: SafeUrl,
    #[serde(skip)]
    issuer_text: String,
    /// The public client registered for Muster.
    pub client_id: String,
    /// Scopes; empty means `openid profile email offline_access` and what the preset adds.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Host in the redirect URI; `127.0.0.1` unless the provider insists on `localhost`.
    #[serde(default)]
    pub redirect_host: Option<String>,
    /// Ports registered at a provider that matches them exactly; empty means any free one (RFC 8252).
    #[serde(default)]
    pub redirect_ports: Vec<u16>,
    /// `audience` parameter of the authorization request (Auth0).
    #[serde(default)]
    pub audience: Option<String>,
    /// `resource` parameter (RFC 8707).
    #[serde(default)]
    pub resource: Option<String>,
    /// Where the org is.
    #[serde(default)]
    pub org_claim: Option<OrgClaim>,
    /// PEM of the authority that signed the provider's certificate, where the system does not know it.
    #[serde(default)]
    pub ca: Option<String>,
    /// What a registered API server may resolve to.
    #[serde(default)]
    pub endpoint_policy: EndpointPolicy,
    /// The KMS.
    pub kms: KmsSettings,
}

impl Deployment {
    /// Reads a deployment's text.
    ///
    /// # Errors
    /// [`DeploymentError::Invalid`] with the line.
    pub fn parse(id: &str, text: &str) -> Result<Self, DeploymentError> {
        let mut deployment: Self = toml::from_str(text).map_err(|error| invalid(text, &error))?;
        deployment.id = id.to_owned();
        // The issuer is compared as text (OIDC Discovery 4.3), and a URL type would add a slash to a bare host.
        deployment.issuer_text = toml::from_str::<toml::Table>(text)
            .ok()
            .and_then(|table| table.get("issuer").and_then(|v| v.as_str()).map(str::to_owned))
            .unwrap_or_default();
        Ok(deployment)
    }

    /// The issuer, verbatim.
    pub fn issuer_text(&self) -> &str {
        &self.issuer_text
    }

    /// Scopes to ask for.
    pub fn effective_scopes(&self) -> Vec<String> {
        if !self.scopes.is_empty() {
            return self.scopes.clone();
        }
        let mut scopes: Vec<String> = ["openid", "profile", "email"].map(str::to_owned).into();
        match self.preset {
            // Google gives refresh tokens by a parameter, not by this scope.
            Some(Preset::Google) => {}
            Some(Preset::Keycloak) => scopes.extend(["offline_access".into(), "organization".into()]),
            Some(Preset::Dex) => scopes.extend(["offline_access".into(), "groups".into()]),
            _ => scopes.push("offline_access".into()),
        }
        scopes
    }

    /// Where the org is.
    pub fn effective_org_claim(&self) -> OrgClaim {
        let at = |pointer: &str| OrgClaim { pointers: vec![pointer.to_owned()], item_key: None };
        self.org_claim.clone().unwrap_or_else(|| match self.preset {
            Some(Preset::Hanzo) => {
                OrgClaim { pointers: vec!["/owner".into(), "/orgs".into()], item_key: Some("org".into()) }
            }
            Some(Preset::Keycloak) => at("/organization"),
            Some(Preset::Entra) => at("/tid"),
            Some(Preset::Auth0) => at("/org_id"),
            Some(Preset::Zitadel) => at("/urn:zitadel:iam:user:resourceowner:id"),
            Some(Preset::Google) => at("/hd"),
            Some(Preset::Dex) => at("/groups"),
            Some(Preset::Okta) | None => OrgClaim::default(),
        })
    }

    /// Host of the redirect URI.
    pub fn effective_redirect_host(&self) -> &str {
        match (&self.redirect_host, self.preset) {
            (Some(host), _) => host,
            (None, Some(Preset::Entra)) => "localhost",
            (None, _) => "127.0.0.1",
        }
    }
}

fn invalid(text: &str, error: &toml::de::Error) -> DeploymentError {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    DeploymentError::Invalid { line, message: error.message().to_owned() }
}

/// The folder that deployments are kept in.
pub struct DeploymentFolder(PathBuf);

impl DeploymentFolder {
    /// A folder; it need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Every deployment, and every file that is none, by file name.
    pub fn list(&self) -> Vec<(String, Result<Deployment, DeploymentError>)> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let mut found: Vec<_> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| (file_name(&path), read(&path)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// One deployment by id.
    ///
    /// # Errors
    /// [`DeploymentError`].
    pub fn get(&self, id: &str) -> Result<Deployment, DeploymentError> {
        self.list().into_iter().find(|(file, _)| file.strip_suffix(".toml") == Some(id)).map_or_else(
            || Err(file_error(id, "there is no deployment of this name")),
            |(_, deployment)| deployment,
        )
    }

    /// Copies a file into the folder once it is known to be good.
    ///
    /// # Errors
    /// [`DeploymentError`].
    pub fn import(&self, file: &Path) -> Result<Deployment, DeploymentError> {
        let deployment = read(file)?;
        let name = file_name(file);
        let put = || -> std::io::Result<()> {
            std::fs::create_dir_all(&self.0)?;
            std::fs::copy(file, self.0.join(&name)).map(|_| ())
        };
        put().map_err(|error| file_error(&name, &error.to_string()))?;
        Ok(deployment)
    }

    /// Forgets a deployment.
    ///
    /// # Errors
    /// [`DeploymentError::File`].
    pub fn remove(&self, id: &str) -> Result<(), DeploymentError> {
        // Only names that the list shows can be removed, so an id cannot climb out of the folder.
        let Some((file, _)) =
            self.list().into_iter().find(|(file, _)| file.strip_suffix(".toml") == Some(id))
        else {
            return Err(file_error(id, "there is no deployment of this name"));
        };
        std::fs::remove_file(self.0.join(&file)).map_err(|error| file_error(&file, &error.to_string()))
    }
}

fn read(path: &Path) -> Result<Deployment, DeploymentError> {
    let name = file_name(path);
    let fault = |error: std::io::Error| file_error(&name, &error.to_string());
    if std::fs::metadata(path).map_err(fault)?.len() > MAX_FILE_BYTES {
        return Err(file_error(&name, "it is far too large for a deployment"));
    }
    let text = std::fs::read_to_string(path).map_err(fault)?;
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Deployment::parse(&id, &text)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn file_error(file: &str, message: &str) -> DeploymentError {
    DeploymentError::File { file: file.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
title = "Orchard"
issuer = "https://id.orchard.example"
client_id = "muster"

[kms]
kind = "vault"
url = "https://kms.orchard.example:8200"
"#;

    #[test]
    fn a_short_file_is_enough() {
        let deployment = Deployment::parse("orchard", GOOD).expect("it is good");
        assert_eq!(deployment.issuer_text(), "https://id.orchard.example");
        assert_eq!(deployment.kms.role, "muster-{org}");
        assert_eq!(deployment.endpoint_policy, EndpointPolicy::Private);
        assert_eq!(deployment.effective_scopes(), ["openid", "profile", "email", "offline_access"]);
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        for (from, to, line, says) in [
            ("client_id", "clientid", 4, "clientid"),
            ("url = \"https://kms", "url = \"http://kms", 8, "https"),
            ("kind = \"vault\"", "kind = \"valt\"", 7, "valt"),
            ("issuer = \"https://id.", "issuer = \"https://me:pw@id.", 3, "user name"),
            ("title = \"Orchard\"", "title = 5", 2, "string"),
            ("[kms]", "[kms", 6, ""),
        ] {
            let text = GOOD.replace(from, to);
            match Deployment::parse("x", &text) {
                Err(DeploymentError::Invalid { line: found, message }) => {
                    assert_eq!(found, line, "{message}");
                    assert!(message.contains(says), "{message} does not say {says}");
                }
                other => panic!("{to} gave {other:?}"),
            }
        }
    }

    #[test]
    fn a_deployment_cannot_name_an_org() {
        assert!(Deployment::parse("x", &format!("org = \"acme\"\n{GOOD}")).is_err());
    }

    #[test]
    fn an_id_cannot_climb_out_of_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().join("outside.toml");
        std::fs::write(&outside, GOOD).expect("a file");
        let inner = DeploymentFolder::new(folder.path().join("deployments"));
        inner.import(&outside).expect("it is good");
        assert!(inner.remove("../outside").is_err());
        assert!(outside.exists());
        assert!(inner.remove("outside").is_ok());
        assert!(inner.list().is_empty());
    }
}
