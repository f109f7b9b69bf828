//! The tokens of one session: held in memory, refreshed when they near their end, single flight in this process and,
//! by a file lock, across processes.
//!
//! Invariants: a rotated refresh token is stored before the tokens that came with it are used, since a provider
//! revokes the whole family when an old one is used twice; `invalid_grant` is final; trouble with the network is not.
//! Deliberately absent: a timer. A token is refreshed when somebody needs it.

use std::path::PathBuf;
use std::sync::Arc;

use fd_lock::RwLock;
use jiff::{SignedDuration, Timestamp};
use oauth2::basic::{BasicErrorResponseType, BasicTokenType};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, EndpointNotSet, EndpointSet, ExtraTokenFields, PkceCodeVerifier,
    RedirectUrl, RefreshToken, RequestTokenError, Scope, StandardRevocableToken, StandardTokenResponse,
    TokenResponse, TokenUrl,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::error::SignInError;
use super::http::Http;
use super::id_token::{self, Expected, VerifiedIdToken};
use super::provider::Provider;
use crate::clock::Clock;
use crate::deployment::{Deployment, KmsToken};
use crate::secrets::{SecretError, SecretStore};

/// A token that ends sooner than this is refreshed before it is used.
const REFRESH_BEFORE: SignedDuration = SignedDuration::from_secs(75);

/// The `id_token` beside OAuth's own fields.
#[derive(Debug, Serialize, Deserialize)]
pub struct IdTokenField {
    id_token: Option<String>,
}
impl ExtraTokenFields for IdTokenField {}

type Response = StandardTokenResponse<IdTokenField, BasicTokenType>;
type OAuthClient = oauth2::Client<
    oauth2::basic::BasicErrorResponse,
    Response,
    oauth2::basic::BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    oauth2::basic::BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// What the keyring holds: one compact secret.
#[derive(Serialize, Deserialize, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
struct Kept {
    issuer: String,
    client_id: String,
    sub: String,
    refresh_token: String,
}

/// Everything that talking to the provider needs.
pub struct Relying {
    pub deployment: Arc<Deployment>,
    pub provider: Provider,
    pub http: Http,
    pub secrets: Arc<dyn SecretStore>,
    pub clock: Arc<dyn Clock>,
    pub lock_dir: PathBuf,
}

impl Relying {
    /// The OAuth client for this deployment.
    pub fn client(&self) -> Result<OAuthClient, SignInError> {
        let broken = |error: url::ParseError| SignInError::ProviderBroken {
            host: self.deployment.issuer.host_port(),
            why: error.to_string(),
        };
        Ok(oauth2::Client::new(ClientId::new(self.deployment.client_id.clone()))
            .set_auth_uri(AuthUrl::new(self.provider.authorization.as_str().to_owned()).map_err(broken)?)
            .set_token_uri(TokenUrl::new(self.provider.token.as_str().to_owned()).map_err(broken)?))
    }

    /// The keyring account of this deployment's session.
    pub fn account(&self) -> String {
        account(&self.deployment)
    }

    /// Exchanges the code that the browser brought.
    pub async fn exchange(
        &self,
        code: Zeroizing<String>,
        verifier: PkceCodeVerifier,
        redirect: &str,
        nonce: &str,
    ) -> Result<Grant, SignInError> {
        let redirect = RedirectUrl::new(redirect.to_owned())
            .map_err(|error| SignInError::NoPort { why: error.to_string() })?;
        let client = self.client()?.set_redirect_uri(redirect);
        let mut request =
            client.exchange_code(AuthorizationCode::new(code.to_string())).set_pkce_verifier(verifier);
        if let Some(resource) = &self.deployment.resource {
            request = request.add_extra_param("resource", resource.clone());
        }
        let response = request.request_async(&self.http).await.map_err(|error| self.refusal(error))?;
        self.grant(&response, Some(nonce), None).await
    }

    async fn refresh(
        &self,
        refresh_token: &str,
        old: Option<&VerifiedIdToken>,
    ) -> Result<Grant, SignInError> {
        let client = self.client()?;
        let token = RefreshToken::new(refresh_token.to_owned());
        let mut request = client.exchange_refresh_token(&token);
        if let Some(resource) = &self.deployment.resource {
            request = request.add_extra_param("resource", resource.clone());
        }
        for scope in self.deployment.effective_scopes() {
            request = request.add_scope(Scope::new(scope));
        }
        let response =
            request.request_async(&self.http).await.map_err(|error| match self.refusal(error) {
                SignInError::Refused { error, .. } if error == "invalid_grant" => SignInError::SessionEnded,
                other => other,
            })?;
        self.grant(&response, None, old).await
    }

    /// Checks what the token endpoint answered. A refreshed id token has to be of the same person.
    async fn grant(
        &self,
        response: &Response,
        nonce: Option<&str>,
        old: Option<&VerifiedIdToken>,
    ) -> Result<Grant, SignInError> {
        let access = response.access_token().secret();
        let now = self.clock.now();
        let verified = match (&response.extra_fields().id_token, old) {
            (Some(token), _) => {
                let expected = Expected {
                    issuer: self.deployment.issuer_text(),
                    client_id: &self.deployment.client_id,
                    nonce,
                    algorithms: &self.provider.algorithms,
                    access_token: Some(access),
                    now,
                    skew_seconds: self.provider.skew_seconds,
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
            return Err(SignInError::Untrusted { why: "the refreshed session is somebody else's".into() });
        }
        let lifetime = response.expires_in().unwrap_or(std::time::Duration::from_secs(300));
        let lifetime = SignedDuration::try_from(lifetime).unwrap_or(SignedDuration::from_secs(300));
        let access_expires = now.checked_add(lifetime).unwrap_or(now);
        let (kms, expires) = match (self.deployment.kms.token, &response.extra_fields().id_token) {
            (KmsToken::Id, Some(id)) => (id.clone(), verified.expires()),
            (KmsToken::Id, None) => {
                return Err(SignInError::Untrusted {
                    why: "the identity provider sent no new id token".into(),
                });
            }
            (KmsToken::Access, _) => (access.clone(), access_expires),
        };
        Ok(Grant {
            verified,
            kms_token: Zeroizing::new(kms),
            expires,
            refresh_token: response.refresh_token().map(|token| Zeroizing::new(token.secret().clone())),
        })
    }

    fn refusal<RE: std::error::Error + 'static>(
        &self,
        error: RequestTokenError<RE, oauth2::basic::BasicErrorResponse>,
    ) -> SignInError {
        let host = self.deployment.issuer.host_port();
        match error {
            RequestTokenError::ServerResponse(answer) => SignInError::Refused {
                error: match answer.error() {
                    BasicErrorResponseType::Extension(other) => other.clone(),
                    known => known.to_string(),
                },
                description: answer.error_description().cloned(),
            },
            RequestTokenError::Request(error) => {
                let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
                while let Some(error) = source {
                    if let Some(known) = error.downcast_ref::<SignInError>() {
                        return known.clone();
                    }
                    source = error.source();
                }
                SignInError::ProviderUnreachable { host, why: "the connection broke".into() }
            }
            // The parser's text quotes the answer, which may hold tokens.
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => SignInError::ProviderBroken {
                host,
                why: "its token answer is not what OAuth 2.0 requires".into(),
            },
        }
    }

    async fn keep(&self, grant: &Grant) -> Result<(), SecretError> {
        let Some(refresh_token) = &grant.refresh_token else { return Ok(()) };
        let kept = Kept {
            issuer: self.deployment.issuer_text().to_owned(),
            client_id: self.deployment.client_id.clone(),
            sub: grant.verified.subject().to_owned(),
            refresh_token: refresh_token.to_string(),
        };
        let bytes = Zeroizing::new(
            serde_json::to_vec(&kept).map_err(|error| SecretError::Unusable(error.to_string()))?,
        );
        self.secrets.set(&self.account(), &bytes).await
    }

    async fn kept(&self) -> Result<Option<Kept>, SecretError> {
        let Some(bytes) = self.secrets.get(&self.account()).await? else { return Ok(None) };
        let kept: Option<Kept> = serde_json::from_slice(&bytes).ok();
        Ok(kept.filter(|kept| {
            kept.issuer == self.deployment.issuer_text() && kept.client_id == self.deployment.client_id
        }))
    }
}

/// The keyring account of a deployment's session.
pub fn account(deployment: &Deployment) -> String {
    format!("{}|{}", deployment.issuer_text(), deployment.client_id)
}

/// What a sign-in or a refresh yields.
pub struct Grant {
    pub verified: VerifiedIdToken,
    kms_token: Zeroizing<String>,
    expires: Timestamp,
    refresh_token: Option<Zeroizing<String>>,
}

/// Where the refresh token is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The keyring.
    Keyring,
    /// This process's memory only.
    SessionOnly,
}

/// The tokens of a session.
pub struct Tokens {
    relying: Relying,
    storage: Storage,
    held: Mutex<Held>,
}

struct Held {
    grant: Grant,
    ended: bool,
}

impl Tokens {
    /// Keeps a fresh grant. A keyring that fails is no reason to refuse the session; it is then session-only.
    pub async fn keep(relying: Relying, grant: Grant, keyring: bool) -> Self {
        let storage = if keyring && grant.refresh_token.is_some() && relying.keep(&grant).await.is_ok() {
            Storage::Keyring
        } else {
            Storage::SessionOnly
        };
        Self { relying, storage, held: Mutex::new(Held { grant, ended: false }) }
    }

    /// Takes up the session that the keyring holds, or `None` where it holds none.
    pub async fn resume(relying: Relying) -> Result<Option<Self>, SignInError> {
        let grant = {
            let _lock = lock(&relying).await?;
            let Some(kept) = relying.kept().await? else { return Ok(None) };
            match relying.refresh(&kept.refresh_token, None).await {
                Ok(grant) if grant.verified.subject() == kept.sub => {
                    relying.keep(&grant).await?;
                    grant
                }
                Ok(_) => {
                    return Err(SignInError::Untrusted { why: "the kept session is somebody else's".into() });
                }
                Err(SignInError::SessionEnded) => {
                    relying.secrets.delete(&relying.account()).await?;
                    return Err(SignInError::SessionEnded);
                }
                Err(other) => return Err(other),
            }
        };
        Ok(Some(Self { relying, storage: Storage::Keyring, held: Mutex::new(Held { grant, ended: false }) }))
    }

    /// Where the refresh token is kept.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The deployment.
    pub fn deployment(&self) -> &Arc<Deployment> {
        &self.relying.deployment
    }

    /// The claims of the newest id token.
    pub async fn verified(&self) -> VerifiedIdToken {
        self.held.lock().await.grant.verified.clone()
    }

    /// A token for the KMS login, refreshed where it would end within [`REFRESH_BEFORE`].
    ///
    /// # Errors
    /// [`SignInError::SessionEnded`] for good; others may pass.
    pub async fn current(&self) -> Result<Zeroizing<String>, SignInError> {
        // Whoever comes while a refresh is under way waits here and finds the new token.
        let mut held = self.held.lock().await;
        if held.ended {
            return Err(SignInError::SessionEnded);
        }
        let now = self.relying.clock.now();
        if held.grant.expires > now + REFRESH_BEFORE {
            return Ok(held.grant.kms_token.clone());
        }
        match self.renew(&mut held).await {
            Ok(()) => Ok(held.grant.kms_token.clone()),
            Err(SignInError::SessionEnded) => {
                held.ended = true;
                Err(SignInError::SessionEnded)
            }
            // What is left of the old token is still good while the provider is out of reach.
            Err(error) if error.retryable() && held.grant.expires > now => {
                tracing::warn!(code = error.code(), "the session could not be refreshed yet");
                Ok(held.grant.kms_token.clone())
            }
            Err(error) => Err(error),
        }
    }

    async fn renew(&self, held: &mut Held) -> Result<(), SignInError> {
        let _lock = match self.storage {
            Storage::Keyring => Some(lock(&self.relying).await?),
            Storage::SessionOnly => None,
        };
        // Another process may have rotated the token since; only what the keyring holds now is good.
        let kept = match self.storage {
            Storage::Keyring => {
                self.relying.kept().await?.map(|kept| Zeroizing::new(kept.refresh_token.clone()))
            }
            Storage::SessionOnly => held.grant.refresh_token.clone(),
        };
        let Some(refresh_token) = kept else { return Err(SignInError::SessionEnded) };
        let mut grant = self.relying.refresh(&refresh_token, Some(&held.grant.verified)).await?;
        match grant.refresh_token {
            Some(_) if self.storage == Storage::Keyring => self.relying.keep(&grant).await?,
            Some(_) => {}
            None => grant.refresh_token = Some(refresh_token),
        }
        held.grant = grant;
        Ok(())
    }

    /// Revokes the refresh token (RFC 7009, best effort) and forgets it.
    pub async fn end(&self) {
        let mut held = self.held.lock().await;
        held.ended = true;
        if self.storage == Storage::Keyring
            && let Err(error) = self.relying.secrets.delete(&self.relying.account()).await
        {
            tracing::warn!(code = error.code(), "the keyring entry could not be removed");
        }
        let Some(refresh_token) = held.grant.refresh_token.take() else { return };
        let Some(revocation) = &self.relying.provider.revocation else { return };
        let Ok(client) = self.relying.client() else { return };
        let Ok(url) = oauth2::RevocationUrl::new(revocation.as_str().to_owned()) else { return };
        let client = client.set_revocation_url(url);
        let token = StandardRevocableToken::RefreshToken(RefreshToken::new(refresh_token.to_string()));
        // The library wants https here; a provider on loopback is revoked by its token's own end.
        if let Ok(request) = client.revoke_token(token)
            && request.request_async(&self.relying.http).await.is_err()
        {
            tracing::warn!("the identity provider did not confirm that the session was revoked");
        }
    }
}

/// The lock that keeps two processes from spending one refresh token. It blocks, so it waits on a thread of its own.
async fn lock(relying: &Relying) -> Result<Lock, SignInError> {
    let folder = relying.lock_dir.clone();
    let fault = |error: std::io::Error| SignInError::Keyring(SecretError::Unusable(error.to_string()));
    let taken = tokio::task::spawn_blocking(move || -> std::io::Result<Lock> {
        std::fs::create_dir_all(&folder)?;
        let file = std::fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("refresh.lock"))?;
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        // The guard borrows its lock, so both live on a thread until the lock is let go.
        std::thread::Builder::new().name("refresh-lock".into()).spawn(move || {
            let mut lock = RwLock::new(file);
            let guard = lock.write();
            let _ = ready.send(guard.as_ref().map(|_| ()).map_err(|error| error.kind()));
            if guard.is_ok() {
                let _ = released.recv();
            }
        })?;
        is_ready.recv().map_err(std::io::Error::other)?.map_err(std::io::Error::from)?;
        Ok(Lock { _release: release })
    });
    taken.await.map_err(|error| fault(std::io::Error::other(error)))?.map_err(fault)
}

/// Let go when dropped.
struct Lock {
    _release: std::sync::mpsc::Sender<()>,
}
