//! A deployment: which identity provider and which KMS an organisation uses. One TOML file each, without any secret.
//!
//! Invariant: an unknown key, a wrong type, a value that could never work and an address that is not https (loopback
//! apart) are errors that name the line, found before anybody signs in. Deliberately absent: the org. It comes from the
//! verified identity, never from here.

mod checked;
mod folder;
mod org_claim;
#[cfg(test)]
mod tests;
mod url;

use serde::Deserialize;

pub use folder::DeploymentFolder;
pub use org_claim::{OrgClaim, OrgShape};
pub use url::SafeUrl;

use crate::endpoint::EndpointPolicy;

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
    #[serde(default = "default_mount", deserialize_with = "checked::mount")]
    pub mount: String,
    /// The JWT auth mount.
    #[serde(default = "default_auth_mount", deserialize_with = "checked::mount")]
    pub auth_mount: String,
    /// The role; `{org}` in it stands for the session's org. One role per org is the safe set-up.
    #[serde(default = "default_role", deserialize_with = "checked::role")]
    pub role: String,
    /// Vault Enterprise or OpenBao namespace.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Which token logs in.
    #[serde(default)]
    pub token: KmsToken,
    /// PEM of the authority that signed its certificate, where the system does not know it.
    #[serde(default, deserialize_with = "checked::pem")]
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
    #[serde(deserialize_with = "checked::filled")]
    pub title: String,
    /// Fills in what the file leaves out.
    #[serde(default)]
    pub preset: Option<Preset>,
    /// The issuer, verbatim as its tokens spell it.
    pub issuer: SafeUrl,
    #[serde(skip)]
    issuer_text: String,
    /// The public client registered for Muster.
    #[serde(deserialize_with = "checked::filled")]
    pub client_id: String,
    /// Scopes; empty means `openid profile email offline_access` and what the preset adds.
    #[serde(default, deserialize_with = "checked::scopes")]
    pub scopes: Vec<String>,
    /// Host in the redirect URI; `127.0.0.1` unless the provider insists on `localhost`.
    #[serde(default, deserialize_with = "checked::redirect_host")]
    pub redirect_host: Option<String>,
    /// Ports registered at a provider that matches them exactly; empty means any free one (RFC 8252).
    #[serde(default, deserialize_with = "checked::ports")]
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
    #[serde(default, deserialize_with = "checked::pem")]
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
        let at = |pointer| OrgClaim::at(pointer, OrgShape::Names);
        self.org_claim.clone().unwrap_or_else(|| match self.preset {
            Some(Preset::Hanzo) => OrgClaim {
                pointers: vec!["/owner".into(), "/orgs".into()],
                shape: OrgShape::Names,
                item_key: Some("org".into()),
            },
            Some(Preset::Keycloak) => OrgClaim::at("/organization", OrgShape::NamesOrMapKeys),
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
