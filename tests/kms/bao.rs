//! A real OpenBao, started for one test on loopback, in a folder of its own.
//!
//! The program is found by `MUSTER_BAO`, or where `scripts/setup` puts it (`.cache/venv/bin/bao` of the checkout). Where
//! it is missing, a test says so loudly and passes; with `CI=true` it fails.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muster_core::clock::{Clock, SystemClock};
use muster_core::kms::vault::VaultConfig;
use muster_core::kms::{IdentityTokens, SecretRef};
use reqwest::Method;
use serde_json::{Value, json};

use crate::identity::{Always, Issuer};
use crate::under_test::KmsUnderTest;

pub struct Bao {
    process: Child,
    home: tempfile::TempDir,
    url: String,
    root: reqwest::Client,
    pub issuer: Issuer,
    /// Where clients are pointed at.
    pub mount: String,
    pub namespace: Option<String>,
}

impl Bao {
    /// Starts a server with two orgs, a role and a fixed policy for each.
    pub async fn start() -> Option<Self> {
        let bao = Self::start_bare(false).await?;
        bao.set_up(None).await;
        Some(bao)
    }

    /// The same behind TLS, with a certificate that a CA of its own signed. Returns the CA in PEM form too.
    pub async fn start_with_tls() -> Option<(Self, String)> {
        let bao = Self::start_bare(true).await?;
        bao.set_up(None).await;
        let ca = std::fs::read_to_string(bao.home.path().join("vault-ca.pem")).unwrap();
        Some((bao, ca))
    }

    async fn start_bare(tls: bool) -> Option<Self> {
        let program = program()?;
        for _ in 0..5 {
            let home = tempfile::tempdir().unwrap();
            let port = pair_of_ports();
            let log = std::fs::File::create(home.path().join("log")).unwrap();
            let mut command = Command::new(&program);
            command
                .args(["server", "-dev", "-dev-root-token-id=root", "-dev-no-store-token"])
                .arg(format!("-dev-listen-address=127.0.0.1:{port}"))
                .env_clear()
                .env("HOME", home.path())
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log);
            if tls {
                command.arg("-dev-tls").arg(format!("-dev-tls-cert-dir={}", home.path().display()));
            }
            let process = command.spawn().unwrap();
            let root = reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .tls_danger_accept_invalid_certs(true)
                .build()
                .unwrap();
            let url = format!("{}://127.0.0.1:{port}", if tls { "https" } else { "http" });
            let mut bao =
                Self { process, home, url, root, issuer: Issuer::new(), mount: "kv".into(), namespace: None };
            if bao.is_ready().await {
                return Some(bao);
            }
        }
        panic!("OpenBao did not start five times in a row; its port may have been taken each time");
    }

    /// Waits until the server answers; false where it ended instead.
    async fn is_ready(&mut self) -> bool {
        for _ in 0..1500 {
            let healthy = self.root.get(format!("{}/v1/sys/health", self.url)).send().await;
            if healthy.is_ok_and(|answer| answer.status() == 200) {
                return true;
            }
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let log = std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
        panic!("OpenBao did not become ready within 30 s:\n{log}");
    }

    /// Mounts, sign-in, roles and policies, in the root namespace or another.
    pub async fn set_up(&self, namespace: Option<&str>) {
        let put =
            |path: &'static str, body: Value| self.operate_in(namespace, Method::POST, path.to_owned(), body);
        put("sys/mounts/kv", json!({"type": "kv", "options": {"version": "2"}})).await;
        put("sys/mounts/kv1", json!({"type": "kv", "options": {"version": "1"}})).await;
        put("sys/auth/jwt", json!({"type": "jwt"})).await;
        put(
            "auth/jwt/config",
            json!({
                "jwt_validation_pubkeys": [self.issuer.public_pem], "bound_issuer": "https://idp.test",
                "jwt_supported_algs": ["ES256"],
            }),
        )
        .await;
        for org in ["acme", "zoo"] {
            let policy = format!(
                "path \"kv/data/orgs/{org}/k8s/*\" {{ capabilities = [\"create\", \"read\", \"update\"] }}\n\
                 path \"kv/metadata/orgs/{org}/k8s/*\" {{ capabilities = [\"read\", \"delete\"] }}\n\
                 path \"kv1/orgs/{org}/k8s/*\" {{ capabilities = [\"create\", \"read\", \"update\", \"delete\"] }}\n\
                 path \"nothing-mounted/*\" {{ capabilities = [\"create\", \"read\", \"update\"] }}\n"
            );
            self.allow(namespace, org, &policy).await;
        }
        // Members of acme who may look and not touch.
        let read = "path \"kv/data/orgs/acme/k8s/*\" { capabilities = [\"read\"] }\n";
        self.allow_as(namespace, "readers-acme", "acme", read).await;
    }

    async fn allow(&self, namespace: Option<&str>, org: &str, policy: &str) {
        self.allow_as(namespace, &format!("muster-{org}"), org, policy).await;
    }

    /// A role for the members of an org, with this policy.
    async fn allow_as(&self, namespace: Option<&str>, role: &str, org: &str, policy: &str) {
        let path = format!("sys/policies/acl/{role}");
        self.operate_in(namespace, Method::POST, path, json!({"policy": policy})).await;
        let role_path = format!("auth/jwt/role/{role}");
        let body = json!({
            "role_type": "jwt", "bound_audiences": ["kms"], "user_claim": "sub", "claim_mappings": {"org": "org"},
            "bound_claims": {"org": org}, "token_policies": [role], "token_ttl": "60s", "token_max_ttl": "120s",
        });
        self.operate_in(namespace, Method::POST, role_path, body).await;
    }

    /// Does something as the operator, and expects it to work.
    pub async fn operate(&self, method: Method, path: &str, body: Value) -> Value {
        self.operate_in(self.namespace.as_deref(), method, path.to_owned(), body).await
    }

    async fn operate_in(&self, namespace: Option<&str>, method: Method, path: String, body: Value) -> Value {
        let (status, answer) = self.request(namespace, "root", method, &path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// Sends a request with any token and hands back what comes.
    pub async fn request(
        &self,
        namespace: Option<&str>,
        token: &str,
        method: Method,
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        let mut request =
            self.root.request(method, format!("{}/v1/{path}", self.url)).header("x-vault-token", token);
        if let Some(namespace) = namespace {
            request = request.header("x-vault-namespace", namespace);
        }
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null))
    }

    /// A token that the KMS gave to a member of an org for whatever they ask outside of the client.
    pub async fn member_token(&self, org: &str) -> String {
        let login = json!({"role": format!("muster-{org}"), "jwt": self.issuer.token("mallory", org)});
        let answer = self.operate(Method::POST, "auth/jwt/login", login).await;
        answer["auth"]["client_token"].as_str().unwrap().to_owned()
    }
}

#[async_trait]
impl KmsUnderTest for Bao {
    fn config(&self) -> VaultConfig {
        VaultConfig {
            url: self.url.parse().unwrap(),
            mount: self.mount.clone(),
            auth_mount: "jwt".into(),
            role: "muster-{org}".into(),
            namespace: self.namespace.clone(),
            ca_pem: None,
        }
    }

    fn identity(&self, org: &str) -> Arc<dyn IdentityTokens> {
        Arc::new(Always(self.issuer.token("alice", org)))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    async fn kill_tokens(&self) {
        self.operate(Method::POST, "sys/leases/revoke-prefix/auth/jwt/login", json!({"sync": true})).await;
    }

    async fn readable_versions(&self, at: &SecretRef) -> usize {
        let mut readable = 0;
        for version in 1..=20 {
            let path = format!("{}/data/{at}?version={version}", self.mount);
            let (status, _) =
                self.request(self.namespace.as_deref(), "root", Method::GET, &path, Value::Null).await;
            readable += usize::from(status == 200);
        }
        readable
    }

    async fn seal(&self) {
        self.operate(Method::PUT, "sys/seal", Value::Null).await;
    }
}

impl Drop for Bao {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    let set_up = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../.cache/venv/bin/bao");
    let program = std::env::var_os("MUSTER_BAO").map_or(set_up, PathBuf::from);
    if program.exists() {
        return Some(program);
    }
    let message = format!("SKIPPED: no OpenBao at {}; scripts/setup installs it", program.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("{message}");
    None
}

/// A port with its successor, which the dev server takes for its cluster listener.
fn pair_of_ports() -> u16 {
    for _ in 0..100 {
        let first = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        if port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return port;
        }
    }
    panic!("no two free ports beside each other");
}
