//! The real provider of `tests/oidc-provider`, one child process for all tests of this program.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::contract::ProviderUnderTest;
use crate::skipped::skip;

/// A running provider. It ends when its standard input does, which is when this program does.
pub struct RealOp {
    issuer: String,
    _child: Child,
}

#[derive(Deserialize)]
struct Ready {
    issuer: String,
}

static RUNNING: OnceLock<Option<RealOp>> = OnceLock::new();

/// The provider, or `None` where it cannot be had, which is then said loudly.
pub async fn running() -> Option<&'static RealOp> {
    RUNNING.get_or_init(start).as_ref()
}

fn start() -> Option<RealOp> {
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/oidc-provider");
    let folder = std::env::var_os("MUSTER_OIDC_PROVIDER").map_or(ours, PathBuf::from);
    if !folder.join("node_modules/oidc-provider").exists() {
        skip("OpenID Connect provider in tests/oidc-provider/node_modules");
        return None;
    }
    let child = Command::new("node")
        .arg("server.mjs")
        .current_dir(&folder)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        skip("Node.js");
        return None;
    };
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it was piped");
    BufReader::new(stdout).read_line(&mut line).expect("it speaks");
    let ready: Ready = serde_json::from_str(&line).expect("the provider came up and said so");
    Some(RealOp { issuer: ready.issuer, _child: child })
}

impl ProviderUnderTest for RealOp {
    fn issuer(&self) -> String {
        self.issuer.clone()
    }
    fn scopes(&self) -> &'static str {
        "[\"openid\", \"profile\", \"offline_access\", \"org\"]"
    }
}
