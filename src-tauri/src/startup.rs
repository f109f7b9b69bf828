//! Before the window: the environment that the web view needs, the log, and the backend.
//!
//! Invariant: the log goes to standard error only and never holds a secret; targets of libraries that print bodies
//! are off at every level. Deliberately absent: reading `KUBECONFIG`, `~/.kube` or any credential.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use muster_api::{App, Environment};
use muster_core::clock::SystemClock;
use tauri::{AppHandle, Manager};
use tracing_subscriber::EnvFilter;

use crate::host::{DemoFleet, Desktop};

/// How long the app waits at its end for tokens to be revoked.
const SHUT_DOWN_WITHIN: Duration = Duration::from_secs(3);

/// On Linux with NVIDIA's driver, WebKitGTK's DMABUF renderer draws an empty window (WebKit bug 262607); the variable
/// that turns it off is only read at start. A variable that the person has set is left as it is.
pub fn prepare_environment() {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        const SWITCH: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
        let nvidia = std::path::Path::new("/proc/driver/nvidia/version").exists();
        if nvidia
            && std::env::var_os(SWITCH).is_none()
            && let Ok(myself) = std::env::current_exe()
        {
            // Replaces this process; it only returns where that failed, and then the app starts as it is.
            let error =
                std::process::Command::new(myself).args(std::env::args_os().skip(1)).env(SWITCH, "1").exec();
            eprintln!("Muster goes on without {SWITCH}: {error}");
        }
    }
}

/// Starts the log at the level of `MUSTER_LOG` (default: warnings).
pub fn start_logging() {
    let wanted = std::env::var("MUSTER_LOG").unwrap_or_else(|_| "warn".into());
    let filter =
        EnvFilter::try_new(muster_api::log_filter(&wanted)).unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

/// Makes the backend and hands it to the commands.
pub fn manage_backend(app: &tauri::App) -> Result<(), Box<dyn std::error::Error>> {
    let environment = Environment {
        config_dir: folder("MUSTER_CONFIG_DIR", app.path().app_config_dir()?),
        state_dir: folder("MUSTER_STATE_DIR", app.path().app_local_data_dir()?),
        clock: Arc::new(SystemClock),
        secrets: Environment::system_secrets(),
        browser: Environment::system_browser(),
        host: Arc::new(Desktop),
        demo: Some(Arc::new(DemoFleet {
            files: std::env::var_os("MUSTER_DEMO_FILES").map(PathBuf::from),
            canary: std::env::var("MUSTER_DEMO_CANARY").unwrap_or_default(),
        })),
    };
    let backend = App::new(environment);
    let demo = std::env::args().any(|argument| argument == "--demo");
    let starting = Arc::clone(&backend);
    tauri::async_runtime::spawn(async move {
        if !demo {
            starting.resume().await;
        } else if let Err(error) = starting.demo_start(()).await {
            tracing::error!(code = error.code, "the demo org did not start");
        }
    });
    app.manage(backend);
    Ok(())
}

/// Tests and portable installations keep Muster's files elsewhere by naming a folder.
fn folder(variable: &str, usual: PathBuf) -> PathBuf {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map_or(usual, PathBuf::from)
}

/// Lets go of clients and tokens before the process ends.
pub fn shut_down(handle: &AppHandle) {
    let app = Arc::clone(&handle.state::<Arc<App>>());
    tauri::async_runtime::block_on(async move {
        if tokio::time::timeout(SHUT_DOWN_WITHIN, app.shut_down()).await.is_err() {
            tracing::warn!("tokens may live on at the KMS until they expire: it did not answer in time");
        }
    });
}
