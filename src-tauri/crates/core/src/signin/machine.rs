//! The state machine of signing in to one deployment.
//!
//! Invariants: one attempt at a time; an attempt that was ended changes nothing any more, however far it had got, and
//! what it had obtained is given back; every change of state happens under one lock, so that what is shown and what is
//! held never part. Deliberately absent: the steps of an attempt (see [`super::attempt`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use url::Url;

use super::attempt::{self, Steps};
use super::error::SignInError;
use super::session::Session;
use super::tokens::Tokens;
use super::{SignInState, Surroundings};
use crate::deployment::Deployment;

/// How long a sign-out is waited for. It goes on behind.
pub const SIGN_OUT_LASTS: Duration = Duration::from_secs(5);

/// Signing in to one deployment.
pub struct SignIn {
    pub(super) deployment: Arc<Deployment>,
    pub(super) around: Surroundings,
    state: watch::Sender<SignInState>,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    /// How many attempts there have been; the number of the newest.
    attempts: u64,
    attempt: Option<Attempt>,
    tokens: Option<Arc<Tokens>>,
}

struct Attempt {
    number: u64,
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
            now: Mutex::default(),
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

    /// Begins an attempt in the browser; an older one is ended. A session that runs is let go of and stays kept.
    pub fn start(self: &Arc<Self>) {
        self.begin(attempt::in_browser);
    }

    /// Takes up the session that the keyring holds, without a browser; where there is none, nobody is signed in.
    pub fn resume(self: &Arc<Self>) {
        self.begin(attempt::from_keyring);
    }

    fn begin<F>(self: &Arc<Self>, work: impl FnOnce(Steps) -> F)
    where
        F: Future<Output = Result<(), SignInError>> + Send + 'static,
    {
        let mut now = self.lock();
        now.attempts += 1;
        let number = now.attempts;
        now.tokens = None;
        self.state.send_replace(SignInState::Preparing);
        let steps = Steps::new(Arc::clone(self), number);
        let work = work(steps.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::warn!(code = error.code(), "signing in ended");
                steps.show(SignInState::SignedOut { reason: Some(error) });
            }
        });
        now.attempt = Some(Attempt { number, task: task.abort_handle(), link: None });
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a state of one attempt; `false` where that attempt was ended.
    pub(super) fn show(&self, number: u64, state: SignInState) -> bool {
        let now = self.lock();
        let current = now.attempt.as_ref().is_some_and(|attempt| attempt.number == number);
        if current {
            self.state.send_replace(state);
        }
        current
    }

    /// Puts down the page of one attempt.
    pub(super) fn set_link(&self, number: u64, link: &Url) {
        let mut now = self.lock();
        if let Some(attempt) = now.attempt.as_mut().filter(|attempt| attempt.number == number) {
            attempt.link = Some(link.clone());
        }
    }

    /// Takes over what an attempt obtained; `false` where that attempt was ended.
    pub(super) fn settle(self: &Arc<Self>, number: u64, tokens: &Arc<Tokens>, state: SignInState) -> bool {
        let (this, ours): (Weak<Self>, Weak<Tokens>) = (Arc::downgrade(self), Arc::downgrade(tokens));
        tokens.on_end(move |reason| {
            if let (Some(this), Some(ours)) = (this.upgrade(), ours.upgrade()) {
                this.ended(&ours, reason);
            }
        });
        let mut now = self.lock();
        let Some(attempt) = now.attempt.as_mut().filter(|attempt| attempt.number == number) else {
            return false;
        };
        attempt.link = None;
        now.tokens = Some(Arc::clone(tokens));
        self.state.send_replace(state);
        true
    }

    /// The session ended by itself.
    fn ended(&self, tokens: &Arc<Tokens>, reason: SignInError) {
        let mut now = self.lock();
        if now.tokens.as_ref().is_some_and(|current| Arc::ptr_eq(current, tokens)) {
            now.tokens = None;
            self.state.send_replace(SignInState::SignedOut { reason: Some(reason) });
        }
    }

    /// The page of the attempt under way, to open again or to copy.
    pub fn link(&self) -> Option<Url> {
        self.lock().attempt.as_ref().and_then(|attempt| attempt.link.clone())
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

    /// Ends the attempt under way. Whoever does not choose an org is signed out again.
    pub fn cancel(&self) {
        let mut now = self.lock();
        now.attempt = None;
        let given_back = match &*self.state.borrow() {
            SignInState::SignedIn(_) | SignInState::SignedOut { .. } => return,
            _ => now.tokens.take(),
        };
        self.state.send_replace(SignInState::SignedOut { reason: None });
        if let Some(tokens) = given_back {
            tokio::spawn(async move { tokens.end().await });
        }
    }

    /// Chooses one of the orgs that the token carries; also changes the org of a session.
    ///
    /// # Errors
    /// [`SignInError::ForeignOrg`] where the token does not carry it.
    pub async fn choose_org(&self, org: &str) -> Result<Arc<Session>, SignInError> {
        let now = self.lock();
        let tokens = now.tokens.as_ref().ok_or(SignInError::SignedOut)?;
        let session = Session::of(Arc::clone(tokens), Some(org))?.ok_or(SignInError::ForeignOrg)?;
        self.state.send_replace(SignInState::SignedIn(Arc::clone(&session)));
        Ok(session)
    }

    /// Ends the session: the refresh token is forgotten and revoked. Nobody is signed in from the call on; the rest is
    /// waited for at most [`SIGN_OUT_LASTS`].
    pub async fn sign_out(&self) {
        let tokens = {
            let mut now = self.lock();
            now.attempt = None;
            self.state.send_replace(SignInState::SignedOut { reason: None });
            now.tokens.take()
        };
        if let Some(tokens) = tokens {
            let ending = tokio::spawn(async move { tokens.end().await });
            if tokio::time::timeout(SIGN_OUT_LASTS, ending).await.is_err() {
                tracing::warn!("signing out still goes on");
            }
        }
    }
}
