//! The steps of one attempt: in the browser, or from the session that the keyring holds.
//!
//! Invariants: the keyring is asked before the browser opens; the listener is bound before the browser opens; `state`,
//! `nonce` and the PKCE verifier are fresh for each attempt; a token without a usable org is refused before anything of
//! it is kept. Deliberately absent: the device grant. It will be a third function here.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use oauth2::{CsrfToken, PkceCodeChallenge, Scope};
use url::Url;

use super::error::SignInError;
use super::http::Http;
use super::listener::{Awaited, Callback, Listener};
use super::machine::SignIn;
use super::provider::Provider;
use super::relying::Relying;
use super::session::Session;
use super::tokens::{self, Tokens};
use super::{SignInState, kept, org};
use crate::deployment::Preset;

/// How long a person may take in the browser.
pub const ATTEMPT_LASTS: Duration = Duration::from_secs(5 * 60);

const NOT_KEPT: &str = "This computer's keyring cannot be used now; the session will end with the app.";
const NOT_OPENED: &str = "The browser could not be opened. Copy the link and open it yourself.";
const STALE: &str = "A page of an older attempt came back. Muster is still waiting for this one.";

/// One attempt's hold on the state machine; without effect once the attempt was ended.
#[derive(Clone)]
pub struct Steps {
    sign_in: Arc<SignIn>,
    number: u64,
}

impl Steps {
    /// The attempt of this number.
    pub fn new(sign_in: Arc<SignIn>, number: u64) -> Self {
        Self { sign_in, number }
    }

    /// Shows a state.
    pub fn show(&self, state: SignInState) -> bool {
        self.sign_in.show(self.number, state)
    }

    async fn relying(&self) -> Result<Relying, SignInError> {
        let (deployment, around) = (&self.sign_in.deployment, &self.sign_in.around);
        let clock = Arc::clone(&around.clock);
        let http = Http::new(&deployment.issuer.host_port(), deployment.ca.as_deref(), Arc::clone(&clock))?;
        let provider = Provider::discover(http.clone(), deployment).await?;
        Ok(Relying {
            deployment: Arc::clone(deployment),
            provider,
            http,
            secrets: Arc::clone(&around.secrets),
            clock,
            lock_dir: around.lock_dir.clone(),
        })
    }

    /// Hands the tokens over; `false` where the attempt was ended meanwhile.
    fn settle(&self, tokens: &Arc<Tokens>) -> Result<bool, SignInError> {
        let state = match Session::of(Arc::clone(tokens), None)? {
            Some(session) => SignInState::SignedIn(session),
            None => {
                let verified = tokens.verified();
                let orgs = org::orgs(&verified, &tokens.deployment().effective_org_claim())?;
                SignInState::ChooseOrg { person: verified.display_name().to_owned(), orgs }
            }
        };
        Ok(self.sign_in.settle(self.number, tokens, state))
    }
}

/// Takes up the session that the keyring holds. Without one, nobody is asked anything over the network.
pub async fn from_keyring(steps: Steps) -> Result<(), SignInError> {
    let around = &steps.sign_in.around;
    if kept::read(&*around.secrets, &steps.sign_in.deployment).await?.is_none() {
        steps.show(SignInState::SignedOut { reason: None });
        return Ok(());
    }
    match Tokens::resume(steps.relying().await?).await? {
        // Where the attempt was ended, the session stays kept for the next one.
        Some(tokens) => steps.settle(&tokens).map(|_| ()),
        None => {
            steps.show(SignInState::SignedOut { reason: None });
            Ok(())
        }
    }
}

/// Signs in through the browser.
pub async fn in_browser(steps: Steps) -> Result<(), SignInError> {
    let around = &steps.sign_in.around;
    // Before the browser opens, so that nobody signs in only to learn that the keyring is locked.
    let unkept = around.secrets.probe().await.err();
    if let Some(error) = &unkept {
        tracing::warn!(code = error.code(), "the keyring cannot be used now");
    }
    let relying = steps.relying().await?;
    let deployment = Arc::clone(&relying.deployment);
    let listener = Listener::bind(deployment.effective_redirect_host(), &deployment.redirect_ports).await?;
    let redirect = listener.redirect().to_string();
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let nonce = CsrfToken::new_random_len(32);
    let (link, state) = authorization(&relying, &redirect, challenge, &nonce)?;
    steps.sign_in.set_link(steps.number, &link);
    let lasts = SignedDuration::try_from(ATTEMPT_LASTS).unwrap_or(SignedDuration::from_secs(300));
    let deadline = around.clock.now() + lasts;
    let waiting = |note| steps.show(SignInState::Waiting { deadline, note });
    waiting(unkept.map(|_| NOT_KEPT));
    if around.browser.open(&link).await.is_err() {
        waiting(Some(NOT_OPENED));
    }
    let awaited = Awaited {
        state: state.secret().clone(),
        issuer: deployment.issuer_text().to_owned(),
        issuer_required: relying.provider.sends_issuer,
    };
    let on_stale = || {
        waiting(Some(STALE));
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
    steps.show(SignInState::Exchanging);
    let grant = relying.exchange(code, verifier, &redirect, nonce.secret()).await?;
    org::orgs(&grant.verified, &deployment.effective_org_claim())?;
    // From here on to the end, though the attempt be ended: what was kept is then given back.
    tokens::finish(async move {
        let tokens = Tokens::keep(relying, grant).await;
        let settled = steps.settle(&tokens);
        if !matches!(settled, Ok(true)) {
            tokens.end().await;
        }
        settled.map(|_| ())
    })
    .await
}

fn authorization(
    relying: &Relying,
    redirect: &str,
    challenge: PkceCodeChallenge,
    nonce: &CsrfToken,
) -> Result<(Url, CsrfToken), SignInError> {
    let deployment = &relying.deployment;
    let client = relying.client()?;
    let redirect = oauth2::RedirectUrl::new(redirect.to_owned())
        .map_err(|error| SignInError::NoPort { why: error.to_string() })?;
    let scopes = deployment.effective_scopes();
    let offline = scopes.iter().any(|scope| scope == "offline_access");
    let mut request = client
        .authorize_url(|| CsrfToken::new_random_len(32))
        .set_redirect_uri(std::borrow::Cow::Owned(redirect))
        .set_pkce_challenge(challenge)
        .add_extra_param("nonce", nonce.secret().clone())
        .add_scopes(scopes.into_iter().map(Scope::new));
    // OpenID Connect Core 1.0, section 11: offline access is granted only where the person is asked. Entra ID grants it
    // without, and would ask for an administrator instead.
    if offline && deployment.preset != Some(Preset::Entra) {
        request = request.add_extra_param("prompt", "consent");
    }
    if deployment.preset == Some(Preset::Google) {
        request = request.add_extra_param("access_type", "offline");
    }
    if let Some(audience) = &deployment.audience {
        request = request.add_extra_param("audience", audience.clone());
    }
    if let Some(resource) = &deployment.resource {
        request = request.add_extra_param("resource", resource.clone());
    }
    Ok(request.url())
}
