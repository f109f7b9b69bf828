//! The desktop, as the backend sees it: file dialog, clipboard, demo org.

use std::path::PathBuf;

use async_trait::async_trait;
use muster_api::host::{Demo, FilePurpose, Host, RunningDemo};
use muster_api::{AppError, ErrorKind};
use muster_testkit::{DemoError, DemoOptions, DemoOrg};
use zeroize::Zeroizing;

/// Tauri's desktop.
pub struct Desktop;

#[async_trait]
impl Host for Desktop {
    async fn choose_files(&self, purpose: FilePurpose) -> Result<Vec<PathBuf>, AppError> {
        let dialog = match purpose {
            FilePurpose::Kubeconfigs => {
                rfd::AsyncFileDialog::new().set_title("Choose kubeconfigs to register").pick_files().await
            }
            FilePurpose::Deployment => rfd::AsyncFileDialog::new()
                .set_title("Choose a Muster deployment")
                .add_filter("Muster deployment", &["toml"])
                .pick_file()
                .await
                .map(|file| vec![file]),
        };
        Ok(dialog.unwrap_or_default().into_iter().map(PathBuf::from).collect())
    }

    async fn clipboard_text(&self) -> Result<Zeroizing<String>, AppError> {
        with_clipboard(|clipboard| clipboard.get_text().map(Zeroizing::new)).await
    }

    async fn set_clipboard_text(&self, text: String) -> Result<(), AppError> {
        with_clipboard(move |clipboard| clipboard.set_text(text)).await
    }
}

/// The system's clipboard blocks while another program answers, so it is asked on a thread that may block.
async fn with_clipboard<T: Send + 'static>(
    ask: impl FnOnce(&mut arboard::Clipboard) -> Result<T, arboard::Error> + Send + 'static,
) -> Result<T, AppError> {
    let asked =
        tokio::task::spawn_blocking(move || arboard::Clipboard::new().and_then(|mut c| ask(&mut c))).await;
    match asked {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(arboard::Error::ContentNotAvailable)) => Err(AppError::new(
            "clipboard_empty",
            ErrorKind::Absent,
            "There is no text on the clipboard.",
            "Copy the kubeconfig first, or drop its file on the window.",
        )),
        // The error's own text may describe the content, so it is not shown.
        Ok(Err(_)) | Err(_) => Err(AppError::new(
            "clipboard_unavailable",
            ErrorKind::Failed,
            "The system's clipboard did not answer.",
            "Drop the file on the window instead, or choose it with the button.",
        )),
    }
}

/// The demo org out of the testkit, in this process and on loopback.
pub struct DemoFleet {
    /// Where kubeconfigs of demo clusters that nobody has registered yet are put, for people to try dropping one.
    pub files: Option<PathBuf>,
    /// Planted in every credential of the demo, for whoever checks that none of them gets out.
    pub canary: String,
}

#[async_trait]
impl Demo for DemoFleet {
    async fn start(&self) -> Result<RunningDemo, AppError> {
        let options = DemoOptions { canary: self.canary.clone(), ..DemoOptions::default() };
        let started = async {
            let org = DemoOrg::start(options).await?;
            let deployment = org.deployment()?;
            Ok::<_, DemoError>((org, deployment))
        };
        let (org, deployment) = started.await.map_err(|error| {
            AppError::new(
                "demo_did_not_start",
                ErrorKind::Failed,
                format!("The demo org could not be started: {error}"),
                "It listens on this computer's loopback address; check that nothing forbids that.",
            )
        })?;
        if let Some(folder) = &self.files {
            for (name, kubeconfig) in org.unregistered() {
                if let Err(error) = std::fs::write(folder.join(format!("{name}.yaml")), kubeconfig) {
                    tracing::warn!(%error, "the demo's kubeconfig could not be put there");
                }
            }
        }
        Ok(RunningDemo { deployment, browser: org.browser(), guard: Box::new(org) })
    }
}
