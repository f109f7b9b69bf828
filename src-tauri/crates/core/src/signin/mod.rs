//! Signing in: from a deployment to a verified person in one org, and a session that stays fresh.
//!
//! Start at [`SignIn`], a state machine that anybody may watch. Authorization code with PKCE (RFC 7636, S256 only)
//! through the system browser and a loopback listener (RFC 8252); the id token is checked in full; the org comes out
//! of its claims; only the refresh token is kept, in the keyring.
//!
//! Invariants: [`Tenant`] is made here only; one attempt at a time; tokens never leave this module but through
//! [`Session::current`], which hands them to the KMS client.
//!
//! Deliberately absent: a web view for signing in, client secrets, implicit and password grants.

mod browser;
mod error;
mod http;
pub mod id_token;
mod listener;
mod org;
mod provider;
mod tokens;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use oauth2::{CsrfToken, PkceCodeChallenge, Scope};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use url::Url;
use zeroize::Zeroizing;

pub use browser::{Browser, SystemBrowser};
pub use error::SignInError;
pub use listener::PATH as CALLBACK_PATH;
pub use tokens::Storage;

use crate::clock::Clock;
use crate::deployment::Deployment;
use crate::kms::{IdentityTokens, KmsError};
use crate::secrets::SecretStore;
use crate::tenant::{Org, Tenant};
use http::Http;
use listener::{Awaited, Callback, Listener};
use provider::Provider;
use tokens::{Relying, Tokens};

/// How long a person may take in the browser.
pub const ATTEMPT_LASTS: Duration = Duration::from_secs(5 * 60);

/// How far signing in has got.
#[derive(Clone)]
pub enum SignInState {
    /// Nobody is signed in.
    SignedOut {
        /// Why, where it was not by choice.
        reason: Option<SignInError>,
    },
    /// The keyring and the provider are being asked.
    Preparing,
    /// The browser is open.
    Waiting {
        /// When the attempt ends by itself.
        deadline: Timestamp,
        /// What the person should know.
        note: Option<&'static str>,
    },
    /// The code is being exchanged.
    Exchanging,
    /// The token carries several orgs.
    ChooseOrg {
        /// The person.
        person: String,
        /// The orgs.
        orgs: Vec<Org>,
    },
    /// Signed in.
    SignedIn(Arc<Session>),
}

/// A verified person in one org, with tokens that stay fresh.
pub struct Session {
    tenant: Tenant,
    orgs: Vec<Org>,
    tokens: Arc<Tokens>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

impl Session {
    /// Who, in which org.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Every org that the token carries.
    pub fn orgs(&self) -> &[Org] {
        &self.orgs
    }

    /// Where the session is kept.
    pub fn storage(&self) -> Storage {
        self.tokens.storage()
    }

    /// A fresh token for the KMS login.
    ///
    /// # Errors
    /// [`SignInError::SessionEnded`] for good; others may pass.
    pub async fn current(&self) -> Result<Zeroizing<String>, SignInError> {
        self.tokens.current().await
    }
}

#[async_trait]
impl IdentityTokens for Session {
    async fn current(&self) -> Result<Zeroizing<String>, KmsError> {
        Self::current(self).await.map_err(|error| match error {
            SignInError::ProviderUnreachable { .. } => {
                KmsError::Unavailable { why: error.to_string(), retry_after: None }
            }
            other => KmsError::Unauthenticated { why: other.to_string() },
        })
    }
}

/// What signing in needs from outside.
pub struct Surroundings {
    /// Opens the sign-in page.
    pub browser: Arc<dyn Browser>,
    /// Keeps the refresh token.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// A folder for the lock between processes.
    pub lock_dir: PathBuf,
}

/// Signing in to one deployment.
pub struct SignIn {
    deployment: Arc<Deployment>,
    around: Surroundings,
    state: watch::Sender<SignInState>,
    attempt: Mutex<Option<Attempt>>,
    tokens: Mutex<Option<Arc<Tokens>>>,
}

struct Attempt {
    task: AbortHandle,
    link: Option<Url>,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SignIn {
    /// Signing in to a deployment, not begun yet.
    pub fn new(deployment: Deployment, around: Surroundings) -> Arc<Self> {
        Arc::new(Self {
            deployment: Arc::new(deployment),
            around,
            state: watch::Sender::new(SignInState::SignedOut { reason: None }),
            attempt: Mutex::default(),
            tokens: Mutex::default(),
        })
    }

    /// The deployment.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The state, to watch.
    pub fn state(&self) -> watch::Receiver<SignInState> {
        self.state.subscribe()
    }

    /// Begins an attempt in the browser; an older one is ended.
    pub fn start(self: &Arc<Self>) {
        self.state.send_replace(SignInState::Preparing);
        let this = Arc::clone(self);
        self.begin(async move { this.attempt().await });
    }

    /// Takes up the session that the keyring holds, without a browser; where there is none, nobody is signed in.
    pub fn resume(self: &Arc<Self>) {
        self.state.send_replace(SignInState::Preparing);
        let this = Arc::clone(self);
        self.begin(async move {
            match Tokens::resume(this.relying().await?).await? {
                Some(tokens) => this.signed_in(tokens).await,
                None => Ok(SignInState::SignedOut { reason: None }),
            }
        });
    }

    fn begin(
        self: &Arc<Self>,
        work: impl Future<Output = Result<SignInState, SignInError>> + Send + 'static,
    ) {
        let this = Arc::clone(self);
        let task = tokio::spawn(async move {
            let state = work.await.unwrap_or_else(|error| {
                tracing::warn!(code = error.code(), "signing in ended");
                SignInState::SignedOut { reason: Some(error) }
            });
            this.state.send_replace(state);
        });
        *self.lock_attempt() = Some(Attempt { task: task.abort_handle(), link: None });
    }

    fn lock_attempt(&self) -> std::sync::MutexGuard<'_, Option<Attempt>> {
        self.attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page of the attempt under way, to open again or to copy.
    pub fn link(&self) -> Option<Url> {
        self.lock_attempt().as_ref().and_then(|attempt| attempt.link.clone())
    }

    /// Opens the page of the attempt under way once more.
    ///
    /// # Errors
    /// In words, where the browser could not be opened or no attempt is under way.
    pub async fn open_again(&self) -> Result<(), String> {
        match self.link() {
            Some(link) => self.around.browser.open(&link).await,
            None => Err("no sign-in is under way".into()),
        }
    }

    /// Ends the attempt under way.
    pub fn cancel(&self) {
        self.lock_attempt().take();
        self.state.send_if_modified(|state| {
            let under_way = !matches!(state, SignInState::SignedIn(_) | SignInState::SignedOut { .. });
            if under_way {
                *state = SignInState::SignedOut { reason: None };
            }
            under_way
        });
    }

    /// Chooses one of the orgs that the token carries; also changes the org of a session.
    ///
    /// # Errors
    /// [`SignInError::ForeignOrg`] where the token does not carry it.
    pub async fn choose_org(&self, org: &str) -> Result<Arc<Session>, SignInError> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tokens = tokens.ok_or(SignInError::SignedOut)?;
        let session = session(tokens, Some(org)).await?.ok_or(SignInError::ForeignOrg)?;
        self.state.send_replace(SignInState::SignedIn(Arc::clone(&session)));
        Ok(session)
    }

    /// Ends the session: the refresh token is revoked and forgotten.
    pub async fn sign_out(&self) {
        self.lock_attempt().take();
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.state.send_replace(SignInState::SignedOut { reason: None });
        if let Some(tokens) = tokens {
            tokens.end().await;
        }
    }

    /// Says that the session ended by itself (the provider refused a refresh).
    pub fn session_ended(&self, reason: SignInError) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.state.send_replace(SignInState::SignedOut { reason: Some(reason) });
    }

    async fn relying(&self) -> Result<Relying, SignInError> {
        let http = Http::new(&self.deployment.issuer.host_port(), self.deployment.ca.as_deref())?;
        let provider = Provider::discover(http.clone(), &self.deployment, self.around.clock.now()).await?;
        Ok(Relying {
            deployment: Arc::clone(&self.deployment),
            provider,
            http,
            secrets: Arc::clone(&self.around.secrets),
            clock: Arc::clone(&self.around.clock),
            lock_dir: self.around.lock_dir.clone(),
        })
    }

    async fn attempt(&self) -> Result<SignInState, SignInError> {
        // Before the browser opens, so that nobody signs in only to learn that the keyring is locked.
        let keyring = self.around.secrets.probe().await;
        if let Err(error) = &keyring {
            tracing::warn!(code = error.code(), "the session will end with the app");
        }
        let relying = self.relying().await?;
        let host = self.deployment.effective_redirect_host();
        let listener = Listener::bind(host, &self.deployment.redirect_ports).await?;
        let redirect = listener.redirect().to_string();
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = CsrfToken::new_random_len(32);
        let (link, state) = self.authorization(&relying, &redirect, challenge, &nonce)?;
        if let Some(attempt) = self.lock_attempt().as_mut() {
            attempt.link = Some(link.clone());
        }
        let lasts = SignedDuration::try_from(ATTEMPT_LASTS).unwrap_or(SignedDuration::from_secs(300));
        let deadline = self.around.clock.now() + lasts;
        self.state.send_replace(SignInState::Waiting { deadline, note: None });
        if self.around.browser.open(&link).await.is_err() {
            let note = Some("The browser could not be opened. Copy the link and open it yourself.");
            self.state.send_replace(SignInState::Waiting { deadline, note });
        }
        let awaited = Awaited {
            state: state.secret().clone(),
            issuer: self.deployment.issuer_text().to_owned(),
            issuer_required: relying.provider.sends_issuer,
        };
        let on_stale = || {
            let note = Some("A page of an older attempt came back. Muster is still waiting for this one.");
            self.state.send_replace(SignInState::Waiting { deadline, note });
        };
        let callback = tokio::time::timeout(ATTEMPT_LASTS, listener.wait(&awaited, on_stale))
            .await
            .map_err(|_| SignInError::TimedOut)??;
        let code = match callback {
            Callback::Code(code) => code,
            Callback::Refused { error, description } => {
                return Err(SignInError::Refused { error, description });
            }
        };
        self.state.send_replace(SignInState::Exchanging);
        let grant = relying.exchange(code, verifier, &redirect, nonce.secret()).await?;
        // A token without a usable org is refused before anything of it is kept.
        org::orgs(&grant.verified, &self.deployment.effective_org_claim())?;
        let tokens = Tokens::keep(relying, grant, keyring.is_ok()).await;
        self.signed_in(tokens).await
    }

    fn authorization(
        &self,
        relying: &Relying,
        redirect: &str,
        challenge: PkceCodeChallenge,
        nonce: &CsrfToken,
    ) -> Result<(Url, CsrfToken), SignInError> {
        let client = relying.client()?;
        let redirect = oauth2::RedirectUrl::new(redirect.to_owned())
            .map_err(|error| SignInError::NoPort { why: error.to_string() })?;
        let scopes = self.deployment.effective_scopes();
        let offline = scopes.iter().any(|scope| scope == "offline_access");
        let mut request = client
            .authorize_url(|| CsrfToken::new_random_len(32))
            .set_redirect_uri(std::borrow::Cow::Owned(redirect))
            .set_pkce_challenge(challenge)
            .add_extra_param("nonce", nonce.secret().clone())
            .add_scopes(scopes.into_iter().map(Scope::new));
        // OpenID Connect Core 11: offline access is granted only where the person is asked.
        if offline {
            request = request.add_extra_param("prompt", "consent");
        }
        if self.deployment.preset == Some(crate::deployment::Preset::Google) {
            request = request.add_extra_param("access_type", "offline");
        }
        if let Some(audience) = &self.deployment.audience {
            request = request.add_extra_param("audience", audience.clone());
        }
        if let Some(resource) = &self.deployment.resource {
            request = request.add_extra_param("resource", resource.clone());
        }
        Ok(request.url())
    }

    async fn signed_in(&self, tokens: Tokens) -> Result<SignInState, SignInError> {
        let tokens = Arc::new(tokens);
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&tokens));
        let verified = tokens.verified().await;
        if let Some(session) = session(Arc::clone(&tokens), None).await? {
            return Ok(SignInState::SignedIn(session));
        }
        let orgs = org::orgs(&verified, &self.deployment.effective_org_claim())?;
        Ok(SignInState::ChooseOrg { person: verified.display_name().to_owned(), orgs })
    }
}

/// The session in the chosen org, or in the only one; `None` where a choice is needed.
async fn session(tokens: Arc<Tokens>, chosen: Option<&str>) -> Result<Option<Arc<Session>>, SignInError> {
    let rule = tokens.deployment().effective_org_claim();
    let verified = tokens.verified().await;
    let orgs = org::orgs(&verified, &rule)?;
    let chosen = match (chosen, orgs.as_slice()) {
        (Some(chosen), _) => chosen,
        (None, [only]) => only.as_str(),
        (None, _) => return Ok(None),
    };
    let tenant = org::tenant(&verified, &rule, chosen)?;
    Ok(Some(Arc::new(Session { tenant, orgs, tokens })))
}
