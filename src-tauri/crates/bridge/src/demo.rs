//! The demo org, and a desktop whose file dialog always picks the demo's kubeconfigs that nobody has registered yet.

use std::path::PathBuf;
use std::sync::Mutex;

use muster_api::host::{Demo, FilePurpose, Host, RunningDemo};
use muster_api::{AppError, ErrorKind};
use muster_core::kubeconfig::printable;
use muster_testkit::{DemoOptions, DemoOrg};

/// A desktop made of one folder and one clipboard.
pub struct FolderHost {
    folder: PathBuf,
    clipboard: Mutex<String>,
}

impl FolderHost {
    /// Over a folder that need not exist.
    pub fn new(folder: PathBuf) -> std::io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder, clipboard: Mutex::default() })
    }
}

fn failed(error: impl std::fmt::Display) -> AppError {
    AppError::new("bridge", ErrorKind::Failed, printable(&error.to_string()), "")
}

#[async_trait::async_trait]
impl Host for FolderHost {
    async fn choose_files(&self, _: FilePurpose) -> Result<Vec<PathBuf>, AppError> {
        let entries = std::fs::read_dir(&self.folder).map_err(failed)?;
        Ok(entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
    }

    async fn clipboard_text(&self) -> Result<zeroize::Zeroizing<String>, AppError> {
        Ok(zeroize::Zeroizing::new(self.clipboard.lock().map_err(failed)?.clone()))
    }

    async fn set_clipboard_text(&self, text: String) -> Result<(), AppError> {
        *self.clipboard.lock().map_err(failed)? = text;
        Ok(())
    }
}

#[async_trait::async_trait]
impl Demo for FolderHost {
    async fn start(&self) -> Result<RunningDemo, AppError> {
        let org = DemoOrg::start(DemoOptions::default()).await.map_err(failed)?;
        for (name, kubeconfig) in org.unregistered() {
            std::fs::write(self.folder.join(format!("{name}.yaml")), kubeconfig).map_err(failed)?;
        }
        let deployment = org.deployment().map_err(failed)?;
        Ok(RunningDemo { deployment, browser: org.browser(), guard: Box::new(org) })
    }
}
