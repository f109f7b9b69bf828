//! The state behind the commands: who is signed in, what is staged, and the events that tell the UI.
//!
//! Invariants: one session at a time; whatever belongs to a session (registry, clients, fleet, staged files' probes) is
//! dropped before the next one begins; events carry whole states, so that a lost one does no harm.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use muster_core::clock::Clock;
use muster_core::deployment::DeploymentFolder;
use muster_core::secrets::{KeyringStore, SecretStore};
use muster_core::signin::{Browser, SystemBrowser};
use tokio::sync::broadcast;

use crate::dto::AppEvent;
use crate::host::{Demo, Host};
use crate::session::{Active, SignedIn};
use crate::staging::Staging;

/// Events that a slow listener may be behind before it misses some.
const EVENTS_KEPT: usize = 64;

/// The UI is told of fleet changes at most this often: ten times a second.
pub(crate) const FLEET_EVENT_EVERY: Duration = Duration::from_millis(100);

/// The service name of Muster's keyring entries.
const KEYRING_SERVICE: &str = "org.muster.desktop";

/// Everything that the app takes from outside.
pub struct Environment {
    /// Where deployments are kept.
    pub config_dir: PathBuf,
    /// Where the lock between processes is.
    pub state_dir: PathBuf,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// Where the refresh token is kept.
    pub secrets: Arc<dyn SecretStore>,
    /// Opens sign-in pages.
    pub browser: Arc<dyn Browser>,
    /// Dialogs and clipboard.
    pub host: Arc<dyn Host>,
    /// The demo org, where this build has one.
    pub demo: Option<Arc<dyn Demo>>,
}

impl Environment {
    /// The operating system's keyring.
    pub fn system_secrets() -> Arc<dyn SecretStore> {
        Arc::new(KeyringStore::new(KEYRING_SERVICE))
    }

    /// The operating system's browser.
    pub fn system_browser() -> Arc<dyn Browser> {
        Arc::new(SystemBrowser)
    }
}

/// The state behind the commands.
pub struct App {
    pub(crate) environment: Environment,
    pub(crate) deployments: DeploymentFolder,
    pub(crate) staging: Staging,
    events: broadcast::Sender<AppEvent>,
    active: Mutex<Option<Arc<Active>>>,
    pub(crate) myself: Weak<App>,
}

impl App {
    /// The app, with nobody signed in.
    pub fn new(environment: Environment) -> Arc<Self> {
        Arc::new_cyclic(|myself| Self {
            deployments: DeploymentFolder::new(environment.config_dir.join("deployments")),
            environment,
            staging: Staging::default(),
            events: broadcast::Sender::new(EVENTS_KEPT),
            active: Mutex::default(),
            myself: myself.clone(),
        })
    }

    /// The events.
    pub fn subscribe(&self) -> broadcast::Receiver<AppEvent> {
        self.events.subscribe()
    }

    /// Tells the UI.
    pub fn announce(&self, event: AppEvent) {
        // Nobody may be listening yet, and then nobody has missed anything.
        let _ = self.events.send(event);
    }

    /// Lets go of clients and tokens, for the end of the program. A session that the keyring holds stays there.
    pub async fn shut_down(&self) {
        if let Some(active) = self.replace_active(None)
            && let Some(signed_in) = active.signed_in()
        {
            signed_in.close().await;
        }
    }

    pub(crate) fn active(&self) -> Option<Arc<Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn replace_active(&self, next: Option<Arc<Active>>) -> Option<Arc<Active>> {
        std::mem::replace(&mut *self.active.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    /// The session, or the error that nobody is signed in.
    pub(crate) fn signed_in(&self) -> Result<Arc<SignedIn>, crate::AppError> {
        self.active().and_then(|active| active.signed_in()).ok_or_else(crate::AppError::signed_out)
    }
}
