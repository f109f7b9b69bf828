//! What an identity provider says of itself (OpenID Connect Discovery 1.0), and its keys.
//!
//! Invariants: the document's issuer equals the deployment's, letter for letter; every endpoint is https or loopback;
//! an unknown key id refetches the keys at most once in [`REFETCH_AT_MOST_EVERY`]; keys older than [`KEYS_LAST`] are
//! fetched anew, so that a key that the provider withdrew is not trusted for as long as the app runs.
//!
//! Deliberately absent: `userinfo`. What counts is in the signed id token.

use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::error::SignInError;
use super::http::Http;
use super::words::words;
use crate::deployment::{Deployment, SafeUrl};

/// A token with an unknown key id must not make Muster hammer the provider.
pub const REFETCH_AT_MOST_EVERY: Duration = Duration::from_secs(30);

/// How long fetched keys are taken for the provider's present ones.
pub const KEYS_LAST: Duration = Duration::from_secs(15 * 60);

/// The discovery document, as far as it is used.
#[derive(Debug, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    revocation_endpoint: Option<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    id_token_signing_alg_values_supported: Vec<String>,
}

/// A provider whose discovery document was read and checked.
pub struct Provider {
    http: Http,
    host: String,
    /// Where the browser goes.
    pub authorization: SafeUrl,
    /// Where codes and refresh tokens are exchanged.
    pub token: SafeUrl,
    /// Where tokens are revoked, if it can.
    pub revocation: Option<SafeUrl>,
    /// Whether its callbacks carry `iss` (RFC 9207); then a callback without it is refused.
    pub sends_issuer: bool,
    /// Signing algorithms it names; empty where it names none.
    pub algorithms: Vec<String>,
    jwks_uri: SafeUrl,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    set: Option<JwkSet>,
    /// When the set was last asked for, and what came of it.
    asked: Option<(Instant, Result<(), SignInError>)>,
}

impl Provider {
    /// Reads the discovery document.
    ///
    /// # Errors
    /// [`SignInError::ProviderUnreachable`] and [`SignInError::ProviderBroken`].
    pub async fn discover(http: Http, deployment: &Deployment) -> Result<Self, SignInError> {
        let host = deployment.issuer.host_port();
        let broken = |why: String| SignInError::ProviderBroken { host: host.clone(), why };
        let issuer = deployment.issuer_text();
        let at =
            SafeUrl::parse(&format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/')))
                .map_err(broken)?;
        let answer = http.get(&at).await?;
        if answer.status != 200 {
            return Err(broken(format!("its discovery document answers {}", answer.status)));
        }
        let metadata: Metadata = serde_json::from_slice(&answer.body)
            .map_err(|_| broken("its discovery document lacks what OpenID Connect requires".into()))?;
        if metadata.issuer != issuer {
            return Err(broken(format!(
                "it calls itself {}, and the deployment file says {issuer}",
                words(&metadata.issuer)
            )));
        }
        let endpoint = |url: &str| SafeUrl::parse(url).map_err(&broken);
        Ok(Self {
            authorization: endpoint(&metadata.authorization_endpoint)?,
            token: endpoint(&metadata.token_endpoint)?,
            revocation: metadata.revocation_endpoint.as_deref().map(endpoint).transpose()?,
            jwks_uri: endpoint(&metadata.jwks_uri)?,
            sends_issuer: metadata.authorization_response_iss_parameter_supported,
            algorithms: metadata.id_token_signing_alg_values_supported,
            keys: Mutex::default(),
            http,
            host,
        })
    }

    /// The key that a token names. An unknown one refetches the set, but not again and again.
    ///
    /// # Errors
    /// [`SignInError::Untrusted`] where there is no such key; the fetch's own error where the keys could not be had.
    pub async fn key(&self, kid: Option<&str>) -> Result<Jwk, SignInError> {
        let mut keys = self.keys.lock().await;
        let fresh =
            keys.asked.as_ref().is_some_and(|(at, outcome)| outcome.is_ok() && at.elapsed() < KEYS_LAST);
        if fresh && let Some(key) = keys.set.as_ref().and_then(|set| pick(set, kid)) {
            return Ok(key.clone());
        }
        match &keys.asked {
            Some((at, outcome)) if at.elapsed() < REFETCH_AT_MOST_EVERY => outcome.clone()?,
            _ => {
                let fetched = self.fetch().await;
                keys.asked = Some((Instant::now(), fetched.as_ref().map(|_| ()).map_err(Clone::clone)));
                keys.set = Some(fetched?);
            }
        }
        keys.set.as_ref().and_then(|set| pick(set, kid)).cloned().ok_or_else(|| SignInError::Untrusted {
            why: "it is signed with a key that the identity provider does not publish".into(),
        })
    }

    async fn fetch(&self) -> Result<JwkSet, SignInError> {
        let answer = self.http.get(&self.jwks_uri).await?;
        let broken = |why: String| SignInError::ProviderBroken { host: self.host.clone(), why };
        if answer.status != 200 {
            return Err(broken(format!("its keys answer {}", answer.status)));
        }
        // One key of a kind we do not know must not hide the others, and one for encryption signs nothing.
        #[derive(Deserialize)]
        struct Lenient {
            keys: Vec<serde_json::Value>,
        }
        let lenient: Lenient =
            serde_json::from_slice(&answer.body).map_err(|_| broken("its keys are not a JWK set".into()))?;
        let keys = lenient.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        Ok(JwkSet { keys: keys.filter(signs).collect() })
    }
}

fn signs(key: &Jwk) -> bool {
    !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption))
}

/// Without a key id only a set of one key says which is meant.
fn pick<'a>(set: &'a JwkSet, kid: Option<&str>) -> Option<&'a Jwk> {
    match (kid, set.keys.as_slice()) {
        (Some(kid), _) => set.find(kid),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}
