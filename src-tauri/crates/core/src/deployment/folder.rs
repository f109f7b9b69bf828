//! The folder that deployments are kept in: one file each, named by its stem.
//!
//! Invariant: an id is looked up among the names that the folder lists, so it cannot climb out; what is imported is the
//! very text that was checked. Deliberately absent: merging and editing. A deployment is replaced whole.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{Deployment, DeploymentError};

/// The largest deployment file read, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The folder that deployments are kept in.
pub struct DeploymentFolder(PathBuf);

impl DeploymentFolder {
    /// A folder; it need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Every deployment, and every file that is none, by file name.
    pub fn list(&self) -> Vec<(String, Result<Deployment, DeploymentError>)> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let mut found: Vec<_> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| (file_name(&path), read(&path).map(|(_, deployment)| deployment)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// One deployment by id.
    ///
    /// # Errors
    /// [`DeploymentError`].
    pub fn get(&self, id: &str) -> Result<Deployment, DeploymentError> {
        self.list().into_iter().find(|(file, _)| file.strip_suffix(".toml") == Some(id)).map_or_else(
            || Err(file_error(id, "there is no deployment of this name")),
            |(_, deployment)| deployment,
        )
    }

    /// Takes in a file once it is known to be good; one of the same name is replaced, at once and whole.
    ///
    /// # Errors
    /// [`DeploymentError`].
    pub fn import(&self, file: &Path) -> Result<Deployment, DeploymentError> {
        let (text, deployment) = read(file)?;
        let name = format!("{}.toml", deployment.id);
        let put = || -> std::io::Result<()> {
            std::fs::create_dir_all(&self.0)?;
            // Without the extension, so that a half-written file is never listed.
            let partial = self.0.join(format!(".{name}.partial"));
            let mut out = std::fs::File::create(&partial)?;
            out.write_all(text.as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&partial, self.0.join(&name))
        };
        put().map_err(|error| file_error(&name, &error.to_string()))?;
        Ok(deployment)
    }

    /// Forgets a deployment.
    ///
    /// # Errors
    /// [`DeploymentError::File`].
    pub fn remove(&self, id: &str) -> Result<(), DeploymentError> {
        let Some((file, _)) =
            self.list().into_iter().find(|(file, _)| file.strip_suffix(".toml") == Some(id))
        else {
            return Err(file_error(id, "there is no deployment of this name"));
        };
        std::fs::remove_file(self.0.join(&file)).map_err(|error| file_error(&file, &error.to_string()))
    }
}

/// Reads one file, never more than the limit of it: what was dropped may be a device that has no end.
fn read(path: &Path) -> Result<(String, Deployment), DeploymentError> {
    let name = file_name(path);
    let fault = |error: std::io::Error| file_error(&name, &error.to_string());
    if !std::fs::metadata(path).map_err(fault)?.is_file() {
        return Err(file_error(&name, "it is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .map_err(fault)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fault)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(file_error(&name, "it is far too large for a deployment"));
    }
    let text = String::from_utf8(bytes).map_err(|_| file_error(&name, "it is not text (UTF-8)"))?;
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let deployment = Deployment::parse(&id, &text)?;
    Ok((text, deployment))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn file_error(file: &str, message: &str) -> DeploymentError {
    DeploymentError::File { file: file.to_owned(), message: message.to_owned() }
}
