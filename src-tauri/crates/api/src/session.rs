//! The session commands: deployments, signing in, choosing an org, signing out.

use std::sync::{Arc, Mutex, PoisonError};

use muster_core::connect::Dialer;
use muster_core::deployment::{Deployment, KmsKind};
use muster_core::fleet::Fleet;
use muster_core::kms::vault::{Vault, VaultConfig};
use muster_core::registry::{Registry, SystemEntropy};
use muster_core::secrets::{MemoryStore, SecretStore};
use muster_core::signin::{Browser, Session, SignIn, SignInState, Storage, Surroundings};

use crate::app::{App, FLEET_EVENT_EVERY};
use crate::dto::AppEvent;
use crate::dto::session::{
    AppInfo, BrokenDeployment, ChooseOrgRequest, DeploymentCard, DeploymentList, SessionStorage, SessionView,
    SignInRequest,
};
use crate::host::FilePurpose;
use crate::{AppError, ErrorKind};

/// A sign-in, and the session it led to.
pub(crate) struct Active {
    sign_in: Arc<SignIn>,
    demo: Option<Box<dyn std::any::Any + Send + Sync>>,
    signed_in: Mutex<Option<Arc<SignedIn>>>,
}

/// Everything that belongs to one person in one org.
pub(crate) struct SignedIn {
    pub fleet: Arc<Fleet>,
    pub registry: Arc<Registry>,
    session: Arc<Session>,
}

impl SignedIn {
    /// Drops every client and ends the KMS session.
    pub async fn close(&self) {
        self.registry.close().await;
    }
}

impl Active {
    pub fn signed_in(&self) -> Option<Arc<SignedIn>> {
        self.signed_in.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, next: Option<Arc<SignedIn>>) -> Option<Arc<SignedIn>> {
        std::mem::replace(&mut *self.signed_in.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    pub fn deployment(&self) -> &Deployment {
        self.sign_in.deployment()
    }

    fn view(&self) -> SessionView {
        let deployment = self.deployment().title.clone();
        match &*self.sign_in.state().borrow() {
            SignInState::SignedOut { reason } => {
                SessionView::SignedOut { reason: reason.clone().map(AppError::from) }
            }
            SignInState::Preparing => SessionView::Preparing { deployment },
            SignInState::Waiting { deadline, note } => SessionView::Waiting {
                deployment,
                deadline: deadline.to_string(),
                note: note.map(str::to_owned),
            },
            SignInState::Exchanging => SessionView::Exchanging { deployment },
            SignInState::ChooseOrg { person, orgs } => SessionView::ChooseOrg {
                person: person.clone(),
                orgs: orgs.iter().map(|org| org.as_str().to_owned()).collect(),
            },
            SignInState::SignedIn(session) => SessionView::SignedIn {
                person: session.tenant().display_name().to_owned(),
                org: session.tenant().org().as_str().to_owned(),
                orgs: session.orgs().iter().map(|org| org.as_str().to_owned()).collect(),
                deployment,
                storage: match session.storage() {
                    // The demo's session is kept in memory, whatever its store calls itself.
                    Storage::Keyring if self.demo.is_none() => SessionStorage::Keyring,
                    _ => SessionStorage::SessionOnly,
                },
                demo: self.demo.is_some(),
            },
        }
    }
}

impl App {
    /// What this build is.
    pub async fn app_info(&self, (): ()) -> Result<AppInfo, AppError> {
        Ok(AppInfo { version: env!("CARGO_PKG_VERSION").into(), os: std::env::consts::OS.into() })
    }

    /// Who is signed in, or how far signing in has got.
    pub async fn session_get(&self, (): ()) -> Result<SessionView, AppError> {
        Ok(self.session_view())
    }

    fn session_view(&self) -> SessionView {
        self.active().map_or(SessionView::SignedOut { reason: None }, |active| active.view())
    }

    /// The deployments that can be signed in to.
    pub async fn deployments_list(&self, (): ()) -> Result<DeploymentList, AppError> {
        Ok(self.deployment_list())
    }

    fn deployment_list(&self) -> DeploymentList {
        let mut list = DeploymentList {
            deployments: Vec::new(),
            broken: Vec::new(),
            folder: self.deployments.path().display().to_string(),
        };
        for (file, read) in self.deployments.list() {
            match read {
                Ok(deployment) => list.deployments.push(DeploymentCard {
                    id: deployment.id.clone(),
                    title: deployment.title.clone(),
                    issuer: deployment.issuer.host_port(),
                    kms: deployment.kms.url.host_port(),
                }),
                Err(error) => list.broken.push(BrokenDeployment { file, error: error.into() }),
            }
        }
        list.deployments.sort_by(|a, b| a.title.cmp(&b.title));
        list
    }

    /// Lets the person pick a deployment file and imports it.
    pub async fn deployment_choose_file(&self, (): ()) -> Result<DeploymentList, AppError> {
        for file in self.environment.host.choose_files(FilePurpose::Deployment).await? {
            self.deployments.import(&file)?;
        }
        Ok(self.deployment_list())
    }

    /// Forgets a deployment.
    pub async fn deployment_remove(&self, request: SignInRequest) -> Result<DeploymentList, AppError> {
        self.deployments.remove(&request.deployment)?;
        Ok(self.deployment_list())
    }

    /// Takes in a dropped deployment file.
    pub(crate) fn import_deployment(&self, file: &std::path::Path) -> Result<(), AppError> {
        self.deployments.import(file)?;
        self.announce(AppEvent::Deployments(self.deployment_list()));
        Ok(())
    }

    /// Opens the browser to sign in to a deployment.
    pub async fn sign_in_start(&self, request: SignInRequest) -> Result<SessionView, AppError> {
        let deployment = self.deployments.get(&request.deployment)?;
        let (browser, secrets) =
            (Arc::clone(&self.environment.browser), Arc::clone(&self.environment.secrets));
        self.begin(deployment, browser, secrets, None).await.sign_in.start();
        Ok(self.session_view())
    }

    /// Takes up the session of the deployment that was used last, without a browser. Where the keyring holds none,
    /// nobody is signed in, and nothing is said about it.
    pub async fn resume(&self) {
        let Ok(id) = std::fs::read_to_string(self.last_deployment()) else { return };
        let Ok(deployment) = self.deployments.get(id.trim()) else { return };
        let (browser, secrets) =
            (Arc::clone(&self.environment.browser), Arc::clone(&self.environment.secrets));
        self.begin(deployment, browser, secrets, None).await.sign_in.resume();
    }

    /// A file that holds a deployment's id and nothing else.
    fn last_deployment(&self) -> std::path::PathBuf {
        self.environment.state_dir.join("last-deployment")
    }

    /// Remembers which deployment to take up next time. A folder that cannot be written costs one click, so it is no
    /// error.
    fn remember(&self, deployment: &Deployment) {
        let write = std::fs::create_dir_all(&self.environment.state_dir)
            .and_then(|()| std::fs::write(self.last_deployment(), &deployment.id));
        if let Err(error) = write {
            tracing::warn!(%error, "the deployment that was used last is not remembered");
        }
    }

    /// Starts the demo org and signs in to it.
    pub async fn demo_start(&self, (): ()) -> Result<SessionView, AppError> {
        let demo = self.environment.demo.as_ref().ok_or_else(|| {
            AppError::new(
                "no_demo",
                ErrorKind::Absent,
                "This build has no demo org.",
                "Sign in to a deployment.",
            )
        })?;
        let running = demo.start().await?;
        // The demo's session ends with the app, as its servers do.
        let secrets: Arc<dyn SecretStore> = Arc::new(MemoryStore::default());
        self.begin(running.deployment, running.browser, secrets, Some(running.guard)).await.sign_in.start();
        Ok(self.session_view())
    }

    async fn begin(
        &self,
        deployment: Deployment,
        browser: Arc<dyn Browser>,
        secrets: Arc<dyn SecretStore>,
        demo: Option<Box<dyn std::any::Any + Send + Sync>>,
    ) -> Arc<Active> {
        self.end_session().await;
        let around = Surroundings {
            browser,
            secrets,
            clock: Arc::clone(&self.environment.clock),
            lock_dir: self.environment.state_dir.clone(),
        };
        let sign_in = SignIn::new(deployment, around);
        let active = Arc::new(Active { sign_in, demo, signed_in: Mutex::default() });
        self.replace_active(Some(Arc::clone(&active)));
        self.follow(&active);
        active
    }

    /// Turns each state of the sign-in into what it means for the app, and tells the UI.
    fn follow(&self, active: &Arc<Active>) {
        let (app, followed) = (self.myself.clone(), Arc::downgrade(active));
        let mut state = active.sign_in.state();
        tokio::spawn(async move {
            loop {
                let now = state.borrow_and_update().clone();
                let (Some(app), Some(active)) = (app.upgrade(), followed.upgrade()) else { return };
                if !app.active().is_some_and(|current| Arc::ptr_eq(&current, &active)) {
                    return;
                }
                app.enter(&active, now).await;
                app.announce(AppEvent::Session(active.view()));
                drop((app, active));
                if state.changed().await.is_err() {
                    return;
                }
            }
        });
    }

    async fn enter(&self, active: &Arc<Active>, state: SignInState) {
        let next = match state {
            SignInState::SignedIn(session) => {
                let unchanged = active.signed_in().is_some_and(|old| Arc::ptr_eq(&old.session, &session));
                if unchanged {
                    return;
                }
                if active.demo.is_none() {
                    self.remember(active.deployment());
                }
                match self.open(active.deployment(), &session) {
                    Ok(signed_in) => Some(signed_in),
                    Err(error) => {
                        tracing::error!(code = error.code, "the registry could not be opened");
                        None
                    }
                }
            }
            _ => None,
        };
        // The old org's clients and tokens go before anything of the new one is read.
        if let Some(old) = active.replace(next.clone()) {
            old.close().await;
        }
        if let Some(signed_in) = next {
            self.follow_fleet(&signed_in);
            tokio::spawn(async move {
                if signed_in.fleet.reload().await.is_ok() {
                    signed_in.fleet.refresh(None);
                }
            });
        }
    }

    fn open(&self, deployment: &Deployment, session: &Arc<Session>) -> Result<Arc<SignedIn>, AppError> {
        let settings = &deployment.kms;
        let KmsKind::Vault = settings.kind;
        let config = VaultConfig {
            url: settings.url.url().clone(),
            mount: settings.mount.clone(),
            auth_mount: settings.auth_mount.clone(),
            role: settings.role.clone(),
            namespace: settings.namespace.clone(),
            ca_pem: settings.ca.clone(),
        };
        let clock = Arc::clone(&self.environment.clock);
        let tenant = session.tenant().clone();
        let identity = Arc::clone(session);
        let kms = Vault::new(&config, tenant.org().clone(), identity, Arc::clone(&clock))?;
        let dialer = Dialer::new(deployment.endpoint_policy).with_clock(Arc::clone(&clock));
        let registry = Registry::new(Arc::new(kms), dialer, Arc::clone(&clock), Arc::new(SystemEntropy));
        let registry = Arc::new(registry);
        let fleet = Fleet::new(Arc::clone(&registry), tenant, clock);
        Ok(Arc::new(SignedIn { fleet, registry, session: Arc::clone(session) }))
    }

    /// Tells the UI of changes of the fleet, at most ten times a second.
    fn follow_fleet(&self, signed_in: &Arc<SignedIn>) {
        let (app, followed) = (self.myself.clone(), Arc::downgrade(signed_in));
        let mut changed = signed_in.fleet.changed();
        tokio::spawn(async move {
            while changed.changed().await.is_ok() {
                tokio::time::sleep(FLEET_EVENT_EVERY).await;
                changed.borrow_and_update();
                let (Some(app), Some(signed_in)) = (app.upgrade(), followed.upgrade()) else { return };
                if !app.signed_in().is_ok_and(|current| Arc::ptr_eq(&current, &signed_in)) {
                    return;
                }
                app.announce(AppEvent::Fleet(Box::new(crate::rows::fleet(&signed_in.fleet))));
            }
        });
    }

    /// Opens the browser again for the same attempt.
    pub async fn sign_in_open_again(&self, (): ()) -> Result<(), AppError> {
        let active = self.active().ok_or_else(AppError::signed_out)?;
        active.sign_in.open_again().await.map_err(|why| {
            let message = format!("The browser could not be opened: {why}.");
            AppError::new("browser", ErrorKind::Failed, message, "Copy the link and open it yourself.")
        })
    }

    /// Puts the sign-in link on the clipboard; it does not go through the web view.
    pub async fn sign_in_copy_link(&self, (): ()) -> Result<(), AppError> {
        let link = self.active().and_then(|active| active.sign_in.link()).ok_or_else(AppError::signed_out)?;
        self.environment.host.set_clipboard_text(link.to_string()).await
    }

    /// Ends the attempt.
    pub async fn sign_in_cancel(&self, (): ()) -> Result<SessionView, AppError> {
        if let Some(active) = self.active() {
            active.sign_in.cancel();
        }
        Ok(self.session_view())
    }

    /// Chooses one of the orgs that the verified token carries.
    pub async fn org_choose(&self, request: ChooseOrgRequest) -> Result<SessionView, AppError> {
        let active = self.active().ok_or_else(AppError::signed_out)?;
        active.sign_in.choose_org(&request.org).await?;
        self.staging.clear();
        let state = active.sign_in.state().borrow().clone();
        self.enter(&active, state).await;
        Ok(self.session_view())
    }

    /// Ends the session.
    pub async fn sign_out(&self, (): ()) -> Result<SessionView, AppError> {
        // Where it is not there, there is nothing to forget.
        let _ = std::fs::remove_file(self.last_deployment());
        self.end_session().await;
        let view = self.session_view();
        self.announce(AppEvent::Session(view.clone()));
        Ok(view)
    }

    async fn end_session(&self) {
        self.staging.clear();
        let Some(active) = self.replace_active(None) else { return };
        if let Some(signed_in) = active.replace(None) {
            signed_in.close().await;
        }
        active.sign_in.sign_out().await;
    }
}
