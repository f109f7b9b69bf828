//! The real kube-apiserver of `tests/apiserver`, as a child process.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde::Deserialize;

/// What the server says of itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    pub version: String,
    pub admin_kubeconfig: String,
    pub scoped_kubeconfig: String,
    pub nodeless_kubeconfig: String,
}

/// A running server; it ends with this value.
pub struct Server {
    pub ready: Ready,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts it, or says loudly why it cannot be had. Where CI runs, that is a failure.
    pub fn start() -> Option<Self> {
        let built = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../.cache/bin/muster-apiserver");
        let binary = std::env::var_os("MUSTER_APISERVER").map_or(built, PathBuf::from);
        if !binary.exists() {
            assert!(
                std::env::var("CI").as_deref() != Ok("true"),
                "CI runs without the kube-apiserver of the tests"
            );
            eprintln!(
                "\n*** SKIPPED: no kube-apiserver at {}; run scripts/setup with Go installed ***\n",
                binary.display()
            );
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(binary)
            .arg("-dir")
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it can be run");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was piped");
        BufReader::new(stdout).read_line(&mut line).expect("it speaks");
        let ready = serde_json::from_str(&line).expect("the server came up and said so");
        Some(Self { ready, child, _folder: folder })
    }

    /// Ends it: from now on connections are refused.
    pub fn stop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
