//! The tokens of one session: held in memory, refreshed when they near their end, single flight in this process and,
//! by a file lock, across processes.
//!
//! Invariants: a rotated refresh token is stored before the tokens that came with it are judged or used, since a
//! provider revokes the whole family when an old one is used twice; a refresh that began is finished, though whoever
//! asked has stopped waiting; `invalid_grant` is final; trouble with the network is not. Deliberately absent: a timer.
//! A token is refreshed when somebody needs it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::error::SignInError;
use super::id_token::{Nonce, VerifiedIdToken};
use super::kept::{self, Kept};
use super::lock::RefreshLock;
use super::relying::{self, Grant, Relying};
use crate::deployment::Deployment;
use crate::secrets::SecretError;

/// A token that ends sooner than this is refreshed before it is used: the KMS's clock may be a minute ahead.
const REFRESH_BEFORE: SignedDuration = SignedDuration::from_secs(75);

/// How long a refresh that failed is not tried again; whoever asks meanwhile is told the same.
const BACK_OFF: Duration = Duration::from_secs(5);

/// Where the refresh token is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The keyring.
    Keyring,
    /// This process's memory only.
    SessionOnly,
}

/// Told once, when the session ends by itself.
type OnEnd = Box<dyn Fn(SignInError) + Send + Sync>;

/// The tokens of a session.
pub struct Tokens {
    relying: Relying,
    in_keyring: AtomicBool,
    verified: SyncMutex<VerifiedIdToken>,
    ended: OnceLock<SignInError>,
    on_end: OnceLock<OnEnd>,
    held: Arc<Mutex<Held>>,
}

struct Held {
    kms_token: Zeroizing<String>,
    expires: jiff::Timestamp,
    refresh_token: Option<Zeroizing<String>>,
    failed: Option<(Instant, SignInError)>,
}

impl Tokens {
    fn new(relying: Relying, grant: Grant, in_keyring: bool) -> Arc<Self> {
        Arc::new(Self {
            relying,
            in_keyring: AtomicBool::new(in_keyring),
            verified: SyncMutex::new(grant.verified),
            ended: OnceLock::new(),
            on_end: OnceLock::new(),
            held: Arc::new(Mutex::new(Held {
                kms_token: grant.kms_token,
                expires: grant.expires,
                refresh_token: grant.refresh_token,
                failed: None,
            })),
        })
    }

    /// Keeps a fresh grant. A keyring that fails is no reason to refuse the session; it is then session-only.
    pub async fn keep(relying: Relying, grant: Grant) -> Arc<Self> {
        let kept = match &grant.refresh_token {
            None => Ok(false),
            Some(token) => {
                // Another process may be refreshing the session that this one replaces; its answer must not come last.
                let _lock = lock(&relying).await.ok();
                let sub = grant.verified.subject();
                kept::write(&*relying.secrets, &relying.deployment, sub, token).await.map(|()| true)
            }
        };
        if let Err(error) = &kept {
            tracing::warn!(code = error.code(), "the session could not be kept and will end with the app");
        }
        Self::new(relying, grant, kept.unwrap_or(false))
    }

    /// Takes up the session that the keyring holds, or `None` where it holds none.
    ///
    /// # Errors
    /// [`SignInError::SessionEnded`] for good; others may pass.
    pub async fn resume(relying: Relying) -> Result<Option<Arc<Self>>, SignInError> {
        // Finished once begun: the provider may have rotated the token, whoever still waits for this.
        finish(async move {
            let _lock = lock(&relying).await?;
            let store = &*relying.secrets;
            let Some(kept) = kept::read(store, &relying.deployment).await? else { return Ok(None) };
            let judged = match relying.spend(&kept.refresh_token).await {
                Ok(tokens) => {
                    if let Some(token) = relying::refresh_token(&tokens) {
                        kept::write(store, &relying.deployment, &kept.sub, &token).await?;
                    }
                    relying.judge(&tokens, Nonce::Unknown, None).await
                }
                Err(error) => Err(error),
            };
            let foreign = judged.as_ref().is_ok_and(|grant| grant.verified.subject() != kept.sub);
            let judged = if foreign { Err(SignInError::ForeignSession) } else { judged };
            if judged.as_ref().is_err_and(SignInError::is_final) {
                kept::forget(store, &relying.deployment).await?;
            }
            let mut grant = judged?;
            if grant.refresh_token.is_none() {
                grant.refresh_token = Some(Zeroizing::new(kept.refresh_token.clone()));
            }
            Ok(Some(Self::new(relying, grant, true)))
        })
        .await
    }

    /// Has `on_end` told when the session ends by itself.
    pub fn on_end(&self, on_end: impl Fn(SignInError) + Send + Sync + 'static) {
        let _ = self.on_end.set(Box::new(on_end));
    }

    /// Where the refresh token is kept.
    pub fn storage(&self) -> Storage {
        if self.in_keyring.load(Ordering::Acquire) { Storage::Keyring } else { Storage::SessionOnly }
    }

    /// The deployment.
    pub fn deployment(&self) -> &Arc<Deployment> {
        &self.relying.deployment
    }

    /// The claims of the newest id token.
    pub fn verified(&self) -> VerifiedIdToken {
        self.lock_verified().clone()
    }

    fn lock_verified(&self) -> MutexGuard<'_, VerifiedIdToken> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A token for the KMS login, refreshed where it would end within [`REFRESH_BEFORE`].
    ///
    /// # Errors
    /// [`SignInError::SessionEnded`] and others that are final; the rest may pass.
    pub async fn current(self: &Arc<Self>) -> Result<Zeroizing<String>, SignInError> {
        // Whoever comes while a refresh is under way waits here and finds what came of it.
        let held = Arc::clone(&self.held).lock_owned().await;
        self.still_runs()?;
        if held.expires > self.relying.clock.now() + REFRESH_BEFORE {
            return Ok(held.kms_token.clone());
        }
        let this = Arc::clone(self);
        finish(async move { this.refreshed(held).await }).await
    }

    fn still_runs(&self) -> Result<(), SignInError> {
        self.ended.get().map_or(Ok(()), |why| Err(why.clone()))
    }

    async fn refreshed(&self, mut held: OwnedMutexGuard<Held>) -> Result<Zeroizing<String>, SignInError> {
        let outcome = match &held.failed {
            Some((at, error)) if at.elapsed() < BACK_OFF => Err(error.clone()),
            _ => {
                let outcome = self.refresh(&mut held).await;
                held.failed = outcome.as_ref().err().map(|error| (Instant::now(), error.clone()));
                outcome
            }
        };
        // Signed out meanwhile: what the provider gave is revoked by whoever signed out.
        self.still_runs()?;
        match outcome {
            Ok(()) => Ok(held.kms_token.clone()),
            Err(error) if error.is_final() => {
                self.end_by_itself(&error);
                Err(error)
            }
            // What is left of the old token is still good while the provider or the keyring is out of reach.
            Err(error) if held.expires > self.relying.clock.now() => {
                tracing::warn!(code = error.code(), "the session could not be refreshed yet");
                Ok(held.kms_token.clone())
            }
            Err(error) => Err(error),
        }
    }

    fn end_by_itself(&self, why: &SignInError) {
        if self.ended.set(why.clone()).is_ok()
            && let Some(on_end) = self.on_end.get()
        {
            on_end(why.clone());
        }
    }

    async fn refresh(&self, held: &mut Held) -> Result<(), SignInError> {
        let in_keyring = self.storage() == Storage::Keyring;
        let _lock = if in_keyring { Some(lock(&self.relying).await?) } else { None };
        let old = self.verified();
        // Another process may have rotated the token since; only what the keyring holds now is good.
        let refresh_token = match if in_keyring { self.kept_now(&old).await? } else { KeptNow::Elsewhere } {
            KeptNow::Ours(kept) => Some(Zeroizing::new(kept.refresh_token.clone())),
            KeptNow::Gone => None,
            KeptNow::Elsewhere => held.refresh_token.clone(),
        };
        let refresh_token = refresh_token.ok_or(SignInError::SessionEnded)?;
        let tokens = match self.relying.spend(&refresh_token).await {
            Ok(tokens) => tokens,
            Err(error) => {
                if error.is_final() {
                    self.forget().await;
                }
                return Err(error);
            }
        };
        let next = relying::refresh_token(&tokens);
        if let Some(next) = &next {
            self.store(old.subject(), next).await;
        }
        held.refresh_token = Some(next.unwrap_or(refresh_token));
        let grant = self.relying.judge(&tokens, Nonce::Repeats(old.nonce()), Some(&old)).await;
        if grant.as_ref().is_err_and(SignInError::is_final) {
            self.forget().await;
        }
        let grant = grant?;
        *self.lock_verified() = grant.verified;
        held.kms_token = grant.kms_token;
        held.expires = grant.expires;
        Ok(())
    }

    /// What the keyring holds of this session. Called under the lock.
    async fn kept_now(&self, old: &VerifiedIdToken) -> Result<KeptNow, SecretError> {
        match kept::read(&*self.relying.secrets, &self.relying.deployment).await? {
            Some(kept) if kept.sub == old.subject() => Ok(KeptNow::Ours(kept)),
            // Somebody else signed in from another window; their session is theirs, and ours goes on in memory.
            Some(_) => {
                self.in_keyring.store(false, Ordering::Release);
                Ok(KeptNow::Elsewhere)
            }
            // Signed out in another window.
            None => Ok(KeptNow::Gone),
        }
    }

    /// Stores a rotated refresh token. Called under the lock. Where the keyring fails, the session goes on in memory,
    /// and the spent token does not stay behind.
    async fn store(&self, sub: &str, refresh_token: &str) {
        if self.storage() == Storage::SessionOnly {
            return;
        }
        let (store, deployment) = (&*self.relying.secrets, &*self.relying.deployment);
        if let Err(error) = kept::write(store, deployment, sub, refresh_token).await {
            tracing::warn!(code = error.code(), "the session could not be kept and will end with the app");
            self.forget().await;
            self.in_keyring.store(false, Ordering::Release);
        }
    }

    /// Removes the keyring's entry. Called under the lock.
    async fn forget(&self) {
        if self.storage() == Storage::SessionOnly {
            return;
        }
        if let Err(error) = kept::forget(&*self.relying.secrets, &self.relying.deployment).await {
            tracing::warn!(code = error.code(), "the keyring entry could not be removed");
        }
    }

    /// Ends the session at once for whoever holds it; then forgets the refresh token and has it revoked.
    pub async fn end(&self) {
        let _ = self.ended.set(SignInError::SignedOut);
        // Waits for a refresh under way, so that the newest token is the one that is revoked.
        let mut held = self.held.lock().await;
        let mut newest = held.refresh_token.take();
        if self.storage() == Storage::Keyring {
            let _lock = lock(&self.relying).await.ok();
            let old = self.verified();
            if let Ok(KeptNow::Ours(kept)) = self.kept_now(&old).await {
                newest = Some(Zeroizing::new(kept.refresh_token.clone()));
            }
            self.forget().await;
        }
        if let Some(refresh_token) = newest {
            self.relying.revoke(&refresh_token).await;
        }
    }
}

enum KeptNow {
    Ours(Kept),
    Gone,
    Elsewhere,
}

async fn lock(relying: &Relying) -> Result<RefreshLock, SignInError> {
    RefreshLock::take(&relying.lock_dir, &kept::account(&relying.deployment))
        .await
        .map_err(|error| SignInError::Keyring(SecretError::Unusable(error.to_string())))
}

/// Runs to the end, though whoever awaits it is dropped.
pub async fn finish<T: Send + 'static>(
    work: impl Future<Output = Result<T, SignInError>> + Send + 'static,
) -> Result<T, SignInError> {
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        // The runtime is ending, or a bug panicked there.
        Err(_) => Err(SignInError::Untrusted { why: "it was interrupted".into() }),
    }
}
