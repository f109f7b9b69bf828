//! An app on the demo org, without a window.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use muster_api::dto::AppEvent;
use muster_api::dto::fleet::{ClusterRow, FleetView, ReadingState, RefreshRequest};
use muster_api::dto::session::SessionView;
use muster_api::host::{Demo, FilePurpose, Host, RunningDemo};
use muster_api::{App, AppError, Environment};
use muster_core::clock::SystemClock;
use muster_core::secrets::MemoryStore;
use muster_testkit::{DemoOptions, DemoOrg};
use tokio::sync::broadcast;
use zeroize::Zeroizing;

/// What is planted in every token, kubeconfig and KMS value.
pub const CANARY: &str = "canary-77d1c0ffee";

/// A desktop whose clipboard and dialogs are the test's.
#[derive(Default)]
pub struct TestHost {
    pub clipboard: Mutex<String>,
    pub files: Mutex<Vec<PathBuf>>,
}

#[async_trait]
impl Host for TestHost {
    async fn choose_files(&self, _: FilePurpose) -> Result<Vec<PathBuf>, AppError> {
        Ok(self.files.lock().expect("no panic").clone())
    }
    async fn clipboard_text(&self) -> Result<Zeroizing<String>, AppError> {
        Ok(Zeroizing::new(self.clipboard.lock().expect("no panic").clone()))
    }
    async fn set_clipboard_text(&self, text: String) -> Result<(), AppError> {
        *self.clipboard.lock().expect("no panic") = text;
        Ok(())
    }
}

struct TestDemo {
    org: Arc<tokio::sync::Mutex<Option<Arc<DemoOrg>>>>,
    options: DemoOptions,
}

#[async_trait]
impl Demo for TestDemo {
    async fn start(&self) -> Result<RunningDemo, AppError> {
        let org = Arc::new(DemoOrg::start(self.options.clone()).await.expect("the demo starts"));
        *self.org.lock().await = Some(Arc::clone(&org));
        Ok(RunningDemo {
            deployment: org.deployment().expect("it is well formed"),
            browser: org.browser(),
            guard: Box::new(Arc::clone(&org)),
        })
    }
}

/// The app, its folder, and what it said.
pub struct Desk {
    pub app: Arc<App>,
    pub host: Arc<TestHost>,
    pub folder: tempfile::TempDir,
    pub events: broadcast::Receiver<AppEvent>,
    org: Arc<tokio::sync::Mutex<Option<Arc<DemoOrg>>>>,
}

impl Desk {
    /// Opens the app with nobody signed in.
    pub async fn open(person: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let host = Arc::new(TestHost::default());
        let org = Arc::default();
        let options =
            DemoOptions { canary: CANARY.into(), person: person.to_owned(), ..DemoOptions::default() };
        let demo = TestDemo { org: Arc::clone(&org), options };
        let environment = Environment {
            config_dir: folder.path().join("config"),
            state_dir: folder.path().join("state"),
            clock: Arc::new(SystemClock),
            secrets: Arc::new(MemoryStore::default()),
            browser: Environment::system_browser(),
            host: Arc::clone(&host) as Arc<dyn Host>,
            demo: Some(Arc::new(demo)),
        };
        let app = App::new(environment);
        let events = app.subscribe();
        Self { app, host, folder, events, org }
    }

    /// Signs in to the demo org and waits until that has settled.
    pub async fn sign_in(&mut self) -> SessionView {
        self.app.demo_start(()).await.expect("the demo starts");
        self.session(|session| {
            matches!(session, SessionView::SignedIn { .. } | SessionView::ChooseOrg { .. })
                || matches!(session, SessionView::SignedOut { reason: Some(_) })
        })
        .await
    }

    /// Waits for a session state.
    pub async fn session(&mut self, wanted: impl Fn(&SessionView) -> bool) -> SessionView {
        loop {
            let now = self.app.session_get(()).await.expect("always there");
            if wanted(&now) {
                return now;
            }
            self.next_event().await;
        }
    }

    /// Waits until the fleet is as wanted.
    pub async fn fleet(&mut self, wanted: impl Fn(&FleetView) -> bool) -> FleetView {
        loop {
            if let Ok(fleet) = self.app.fleet_get(()).await
                && wanted(&fleet)
            {
                return fleet;
            }
            self.next_event().await;
        }
    }

    /// Waits until every cluster was read once.
    pub async fn read_fleet(&mut self) -> FleetView {
        self.fleet(|fleet| {
            !fleet.clusters.is_empty()
                && fleet
                    .clusters
                    .iter()
                    .all(|c| !c.refreshing && !matches!(c.state, ReadingState::Idle | ReadingState::Loading))
        })
        .await
    }

    /// Reads one cluster again and waits for it.
    pub async fn read_again(&mut self, cluster: &str) -> ClusterRow {
        let request = RefreshRequest { cluster: Some(cluster.to_owned()) };
        self.app.fleet_refresh(request).await.expect("signed in");
        let fleet =
            self.fleet(|fleet| fleet.clusters.iter().any(|row| row.name == cluster && !row.refreshing)).await;
        row(&fleet, cluster)
    }

    /// The demo org behind the app.
    pub async fn org(&self) -> Arc<DemoOrg> {
        self.org.lock().await.clone().expect("the demo was started")
    }

    async fn next_event(&mut self) {
        // An event that never comes is a fault; the bound only turns a hang into a failure.
        match tokio::time::timeout(Duration::from_secs(30), self.events.recv()).await {
            Ok(Ok(_) | Err(broadcast::error::RecvError::Lagged(_))) => {}
            Ok(Err(broadcast::error::RecvError::Closed)) => panic!("the app is gone"),
            Err(_) => panic!("nothing happened for 30 s"),
        }
    }
}

/// A cluster's row.
pub fn row(fleet: &FleetView, name: &str) -> ClusterRow {
    fleet.clusters.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}")).clone()
}
