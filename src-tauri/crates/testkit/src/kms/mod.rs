//! A KMS that speaks as Vault and OpenBao do: KV version 2 behind JWT sign-in, one role and one policy per org.
//!
//! Statuses and bodies are those measured on OpenBao 2.7; the contract tests run against both.

mod faults;
mod store;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use muster_core::clock::Clock;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::keys::SigningKey;
use crate::oidc::KMS_AUDIENCE;

pub use faults::KmsFault;
use store::Secrets;

/// The KV mount.
pub const MOUNT: &str = "kv";
/// Life of a KMS token in seconds.
const LEASE: i64 = 900;

/// The server's state.
pub struct Kms {
    key: SigningKey,
    clock: Arc<dyn Clock>,
    canary: String,
    state: Mutex<Stored>,
}

#[derive(Default)]
struct Stored {
    fault: KmsFault,
    secrets: Secrets,
    tokens: HashMap<String, Token>,
}

#[derive(Clone)]
struct Token {
    org: String,
    subject: String,
    expires: i64,
}

impl Kms {
    /// A server that trusts the provider's key.
    pub fn new(key: SigningKey, clock: Arc<dyn Clock>, canary: &str) -> Arc<Self> {
        Arc::new(Self { key, clock, canary: canary.to_owned(), state: Mutex::default() })
    }

    /// The routes.
    pub fn routes(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/v1/sys/health", get(health))
            .route("/v1/sys/internal/ui/mounts/{*path}", get(mounts))
            .route("/v1/auth/jwt/login", post(login))
            .route("/v1/auth/token/lookup-self", get(lookup))
            .route("/v1/auth/token/renew-self", post(renew))
            .route("/v1/auth/token/revoke-self", post(revoke))
            .route("/v1/{mount}/{kind}/{*path}", any(store::secret))
            .fallback(|| async {
                errors(StatusCode::NOT_FOUND, &["no handler for route. route entry not found."])
            })
            .layer(from_fn_with_state(Arc::clone(self), faults::apply))
            .with_state(Arc::clone(self))
    }

    /// Switches a fault on or off.
    pub fn set_fault(&self, fault: KmsFault) {
        self.stored().fault = fault;
    }

    /// Puts a value there as an operator would, beside every policy.
    pub fn seed(&self, path: &str, value: &str) {
        self.stored().secrets.seed(path, json!({"value": value}));
    }

    /// Every version that is left of a value, as an operator sees it.
    pub fn versions(&self, path: &str) -> usize {
        self.stored().secrets.left(path)
    }

    fn stored(&self) -> std::sync::MutexGuard<'_, Stored> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn token(&self, headers: &HeaderMap) -> Option<(String, Token)> {
        let name = headers.get("x-vault-token")?.to_str().ok()?.to_owned();
        let token = self.stored().tokens.get(&name).cloned()?;
        (token.expires > self.clock.now().as_second()).then_some((name, token))
    }
}

fn errors(status: StatusCode, texts: &[&str]) -> Response {
    (status, Json(json!({"errors": texts}))).into_response()
}

fn denied() -> Response {
    errors(StatusCode::FORBIDDEN, &["permission denied"])
}

fn denied_by_policy() -> Response {
    errors(StatusCode::FORBIDDEN, &["1 error occurred:\n\t* permission denied\n\n"])
}

async fn health(State(kms): State<Arc<Kms>>) -> Response {
    let sealed = kms.stored().fault == KmsFault::Sealed;
    let status = if sealed { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (status, Json(json!({"initialized": true, "sealed": sealed, "standby": false, "version": "2.7.2"})))
        .into_response()
}

async fn mounts(State(kms): State<Arc<Kms>>, Path(path): Path<String>, headers: HeaderMap) -> Response {
    let Some((_, token)) = kms.token(&headers) else { return denied() };
    let mount = path.split('/').next().unwrap_or_default();
    // The endpoint answers whoever may do something below the mount, and nobody else.
    let inside = path == mount || path.starts_with(&format!("{mount}/orgs/{}/", token.org));
    if mount != MOUNT || !inside {
        let text = format!(
            "preflight capability check returned 403, please ensure client's policies grant access to path \"{path}/\""
        );
        return errors(StatusCode::FORBIDDEN, &[&text]);
    }
    let data = json!({"path": format!("{MOUNT}/"), "type": "kv", "options": {"version": "2"}});
    Json(json!({"data": data})).into_response()
}

#[derive(Deserialize)]
struct Login {
    #[serde(default)]
    role: String,
    #[serde(default)]
    jwt: String,
}

async fn login(State(kms): State<Arc<Kms>>, Json(login): Json<Login>) -> Response {
    let bad = |text: &str| errors(StatusCode::BAD_REQUEST, &[text]);
    let Some(org) = login.role.strip_prefix("muster-") else {
        return bad(&format!("role {:?} could not be found", login.role));
    };
    let Some(claims) = kms.key.claims(&login.jwt) else { return bad("error verifying token signature") };
    let now = kms.clock.now().as_second();
    if claims.get("exp").and_then(Value::as_i64).is_none_or(|exp| exp + 60 < now) {
        return bad("error validating token: token is expired");
    }
    if claims.get("aud").and_then(Value::as_str) != Some(KMS_AUDIENCE) {
        return bad("error validating token: invalid audience (aud) claim");
    }
    let member =
        claims.get("orgs").and_then(Value::as_array).is_some_and(|orgs| orgs.iter().any(|o| o == org));
    if !member {
        return bad(
            "error validating claims: claim \"orgs\" does not match any associated bound claim values",
        );
    }
    let bytes: [u8; 18] = rand::random();
    let canary = if kms.canary.is_empty() { String::new() } else { format!("{}-", kms.canary) };
    let name = format!("hvs.{canary}{}", hex(&bytes));
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default().to_owned();
    let token = Token { org: org.to_owned(), subject, expires: now + LEASE };
    kms.stored().tokens.insert(name.clone(), token.clone());
    Json(json!({"auth": auth(&name, &token)})).into_response()
}

fn auth(name: &str, token: &Token) -> Value {
    json!({
        "client_token": name,
        "lease_duration": LEASE,
        "renewable": true,
        "policies": ["default", format!("org-{}", token.org)],
        "token_policies": ["default", format!("org-{}", token.org)],
        "entity_id": format!("entity-{}", token.subject),
        "metadata": {"org": token.org, "role": format!("muster-{}", token.org)},
    })
}

async fn lookup(State(kms): State<Arc<Kms>>, headers: HeaderMap) -> Response {
    let Some((_, token)) = kms.token(&headers) else { return denied() };
    let ttl = token.expires - kms.clock.now().as_second();
    Json(json!({"data": {
        "display_name": format!("jwt-{}", token.subject),
        "entity_id": format!("entity-{}", token.subject),
        "ttl": ttl,
        "meta": {"org": token.org, "role": format!("muster-{}", token.org)},
        "policies": ["default", format!("org-{}", token.org)],
    }}))
    .into_response()
}

async fn renew(State(kms): State<Arc<Kms>>, headers: HeaderMap) -> Response {
    let Some((name, mut token)) = kms.token(&headers) else { return denied() };
    token.expires = kms.clock.now().as_second() + LEASE;
    kms.stored().tokens.insert(name.clone(), token.clone());
    Json(json!({"auth": auth(&name, &token)})).into_response()
}

async fn revoke(State(kms): State<Arc<Kms>>, headers: HeaderMap) -> Response {
    let Some((name, _)) = kms.token(&headers) else { return denied() };
    kms.stored().tokens.remove(&name);
    StatusCode::NO_CONTENT.into_response()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
