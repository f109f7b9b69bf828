//! What Muster asks of a provider's token endpoint, and how it judges the answer.
//!
//! Invariants: a token is handed on only once the id token beside it was verified, or where the first one still stands;
//! no error repeats what was sent. Deliberately absent: a client secret, and retries. A code and a refresh token work
//! once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use oauth2::basic::{BasicErrorResponse, BasicErrorResponseType, BasicTokenType};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, EndpointNotSet, EndpointSet, ExtraTokenFields, PkceCodeVerifier,
    RedirectUrl, RefreshToken, RequestTokenError, StandardRevocableToken, StandardTokenResponse,
    TokenResponse, TokenUrl,
};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::error::SignInError;
use super::http::Http;
use super::id_token::{self, Expected, Nonce, VerifiedIdToken};
use super::provider::Provider;
use super::words::{words, words_without};
use crate::clock::Clock;
use crate::deployment::{Deployment, KmsToken};
use crate::secrets::SecretStore;

/// How long telling the provider that a session is over may take.
pub const REVOCATION_LASTS: Duration = Duration::from_secs(5);

/// Where a provider does not say how long an access token lasts (RFC 6749 leaves it open).
const ASSUMED_LIFETIME: Duration = Duration::from_secs(300);

/// The `id_token` beside OAuth's own fields.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct IdTokenField {
    id_token: Option<String>,
}

impl std::fmt::Debug for IdTokenField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdTokenField([redacted])")
    }
}

impl ExtraTokenFields for IdTokenField {}

/// What a token endpoint answers.
pub type Tokens = StandardTokenResponse<IdTokenField, BasicTokenType>;

/// The library's client: where codes come from and where they go.
pub type OAuthClient = oauth2::Client<
    BasicErrorResponse,
    Tokens,
    oauth2::basic::BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    oauth2::basic::BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// A judged answer.
pub struct Grant {
    /// Who it is.
    pub verified: VerifiedIdToken,
    /// What the KMS login presents.
    pub kms_token: Zeroizing<String>,
    /// When that ends.
    pub expires: Timestamp,
    /// What the next refresh presents, where the provider gave a new one.
    pub refresh_token: Option<Zeroizing<String>>,
}

/// Everything that talking to one provider needs (OpenID Connect calls this side the relying party).
pub struct Relying {
    /// The deployment.
    pub deployment: Arc<Deployment>,
    /// Its provider.
    pub provider: Provider,
    /// The way there.
    pub http: Http,
    /// Keeps the refresh token.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// A folder for the lock between processes.
    pub lock_dir: PathBuf,
}

impl Relying {
    /// The OAuth client for this deployment.
    ///
    /// # Errors
    /// [`SignInError::ProviderBroken`].
    pub fn client(&self) -> Result<OAuthClient, SignInError> {
        let broken = |error: url::ParseError| self.broken(&error.to_string());
        Ok(oauth2::Client::new(ClientId::new(self.deployment.client_id.clone()))
            .set_auth_uri(AuthUrl::new(self.provider.authorization.as_str().to_owned()).map_err(broken)?)
            .set_token_uri(TokenUrl::new(self.provider.token.as_str().to_owned()).map_err(broken)?))
    }

    /// Exchanges the code that the browser brought.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn exchange(
        &self,
        code: Zeroizing<String>,
        verifier: PkceCodeVerifier,
        redirect: &str,
        nonce: &str,
    ) -> Result<Grant, SignInError> {
        let redirect = RedirectUrl::new(redirect.to_owned())
            .map_err(|error| SignInError::NoPort { why: error.to_string() })?;
        let proof = Zeroizing::new(verifier.secret().clone());
        let client = self.client()?.set_redirect_uri(redirect);
        let mut request =
            client.exchange_code(AuthorizationCode::new(code.to_string())).set_pkce_verifier(verifier);
        if let Some(resource) = &self.deployment.resource {
            request = request.add_extra_param("resource", resource.clone());
        }
        let tokens =
            request.request_async(&self.http).await.map_err(|error| self.refusal(error, &[&code, &proof]))?;
        self.judge(&tokens, Nonce::Of(nonce), None).await
    }

    /// Presents a refresh token. The answer is not judged yet: the new refresh token in it is stored first.
    ///
    /// # Errors
    /// [`SignInError::SessionEnded`] where the provider takes the token no more; others say nothing about it.
    pub async fn spend(&self, refresh_token: &str) -> Result<Tokens, SignInError> {
        let client = self.client()?;
        let token = RefreshToken::new(refresh_token.to_owned());
        // No scope: RFC 6749, section 6, takes it for what was granted, and refuses what was not.
        let mut request = client.exchange_refresh_token(&token);
        if let Some(resource) = &self.deployment.resource {
            request = request.add_extra_param("resource", resource.clone());
        }
        request.request_async(&self.http).await.map_err(|error| match self.refusal(error, &[refresh_token]) {
            SignInError::Refused { error, .. } if error == "invalid_grant" => SignInError::SessionEnded,
            other => other,
        })
    }

    /// Checks what the token endpoint answered. A refreshed id token has to be of the same person as `old`.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn judge(
        &self,
        tokens: &Tokens,
        nonce: Nonce<'_>,
        old: Option<&VerifiedIdToken>,
    ) -> Result<Grant, SignInError> {
        let access = tokens.access_token().secret();
        let now = self.clock.now();
        let id = tokens.extra_fields().id_token.as_deref();
        let verified = match (id, old) {
            (Some(token), _) => {
                let expected = Expected {
                    issuer: self.deployment.issuer_text(),
                    client_id: &self.deployment.client_id,
                    nonce,
                    algorithms: &self.provider.algorithms,
                    access_token: Some(access),
                    now,
                    skew_seconds: self.http.skew_seconds(),
                };
                let key = self.provider.key(id_token::key_id(token)?.as_deref()).await?;
                id_token::verify(token, &key, &expected)?
            }
            (None, Some(old)) => old.clone(),
            (None, None) => {
                return Err(SignInError::Untrusted { why: "the identity provider sent no id token".into() });
            }
        };
        if old.is_some_and(|old| old.subject() != verified.subject() || old.issuer() != verified.issuer()) {
            return Err(SignInError::ForeignSession);
        }
        let (kms, expires) = match (self.deployment.kms.token, id) {
            (KmsToken::Id, Some(id)) => (Zeroizing::new(id.to_owned()), verified.expires()),
            (KmsToken::Id, None) => {
                return Err(SignInError::Untrusted {
                    why: "the identity provider sent no new id token".into(),
                });
            }
            (KmsToken::Access, _) => {
                let lifetime = tokens.expires_in().unwrap_or(ASSUMED_LIFETIME);
                let lifetime = SignedDuration::try_from(lifetime).unwrap_or(SignedDuration::MAX);
                (Zeroizing::new(access.clone()), now.checked_add(lifetime).unwrap_or(Timestamp::MAX))
            }
        };
        Ok(Grant { verified, kms_token: kms, expires, refresh_token: refresh_token(tokens) })
    }

    /// Tells the provider that a refresh token is to work no more (RFC 7009); best effort, and never for long.
    pub async fn revoke(&self, refresh_token: &str) {
        let Some(endpoint) = &self.provider.revocation else { return };
        let form = [
            ("token", refresh_token),
            ("token_type_hint", "refresh_token"),
            ("client_id", self.deployment.client_id.as_str()),
        ];
        let told = tokio::time::timeout(REVOCATION_LASTS, self.http.post_form(endpoint, &form)).await;
        if !matches!(told, Ok(Ok(answer)) if answer.status == 200) {
            tracing::warn!("the identity provider did not confirm that the session was revoked");
        }
    }

    fn broken(&self, why: &str) -> SignInError {
        SignInError::ProviderBroken { host: self.deployment.issuer.host_port(), why: why.to_owned() }
    }

    fn refusal<RE: std::error::Error + 'static>(
        &self,
        error: RequestTokenError<RE, BasicErrorResponse>,
        sent: &[&str],
    ) -> SignInError {
        match error {
            RequestTokenError::ServerResponse(answer) => SignInError::Refused {
                error: match answer.error() {
                    BasicErrorResponseType::Extension(other) => {
                        words_without(other, sent).unwrap_or_else(|| "an error without a usable name".into())
                    }
                    known => words(known.as_ref()),
                },
                description: answer.error_description().and_then(|text| words_without(text, sent)),
            },
            RequestTokenError::Request(error) => {
                let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
                while let Some(error) = source {
                    if let Some(known) = error.downcast_ref::<SignInError>() {
                        return known.clone();
                    }
                    source = error.source();
                }
                SignInError::ProviderUnreachable {
                    host: self.deployment.issuer.host_port(),
                    why: "the connection broke".into(),
                }
            }
            // The parser's text quotes the answer, which may hold tokens.
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
                self.broken("its token answer is not what OAuth 2.0 requires")
            }
        }
    }
}

/// The new refresh token of an answer.
pub fn refresh_token(tokens: &Tokens) -> Option<Zeroizing<String>> {
    tokens.refresh_token().map(|token| Zeroizing::new(token.secret().clone()))
}
