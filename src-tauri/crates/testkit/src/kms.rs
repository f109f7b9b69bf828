//! A KMS that speaks as Vault and OpenBao do: KV version 2 behind JWT sign-in, one role and one policy per org.
//!
//! Statuses and bodies are those measured on OpenBao 2.7; the contract tests run against both.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use muster_core::clock::Clock;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::keys::SigningKey;
use crate::oidc::KMS_AUDIENCE;

/// The KV mount.
pub const MOUNT: &str = "kv";
/// Life of a KMS token in seconds.
const LEASE: i64 = 900;
/// As raft stores one entry.
const MAX_VALUE: usize = 1_048_576;

/// What goes wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KmsFault {
    /// Nothing.
    #[default]
    None,
    /// The server is sealed.
    Sealed,
    /// Everything answers 500.
    Broken,
    /// Writes are applied and then answered with 500, as when an answer is lost.
    LostAnswers,
}

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
    secrets: BTreeMap<String, Vec<Option<Value>>>,
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
            .route("/v1/{mount}/{kind}/{*path}", any(secret))
            .fallback(|| async {
                errors(StatusCode::NOT_FOUND, &["no handler for route. route entry not found."])
            })
            .with_state(Arc::clone(self))
    }

    /// Switches a fault on or off.
    pub fn set_fault(&self, fault: KmsFault) {
        self.stored().fault = fault;
    }

    /// Puts a value there as an operator would, beside every policy.
    pub fn seed(&self, path: &str, value: &str) {
        self.stored().secrets.entry(path.to_owned()).or_default().push(Some(json!({"value": value})));
    }

    /// Every version that is left of a value, as an operator sees it.
    pub fn versions(&self, path: &str) -> usize {
        self.stored().secrets.get(path).map_or(0, |versions| versions.iter().flatten().count())
    }

    fn stored(&self) -> std::sync::MutexGuard<'_, Stored> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn token(&self, headers: &HeaderMap) -> Option<(String, Token)> {
        let name = headers.get("x-vault-token")?.to_str().ok()?.to_owned();
        let token = self.stored().tokens.get(&name).cloned()?;
        (token.expires > self.clock.now().as_second()).then_some((name, token))
    }

    fn faulty(&self) -> Option<Response> {
        match self.stored().fault {
            KmsFault::Sealed => Some(errors(StatusCode::SERVICE_UNAVAILABLE, &["Vault is sealed"])),
            KmsFault::Broken => Some(errors(StatusCode::INTERNAL_SERVER_ERROR, &["internal error"])),
            KmsFault::None | KmsFault::LostAnswers => None,
        }
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
    if let Some(fault) = kms.faulty() {
        return fault;
    }
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
    if let Some(fault) = kms.faulty() {
        return fault;
    }
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
    if let Some(fault) = kms.faulty() {
        return fault;
    }
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
    if let Some(fault) = kms.faulty() {
        return fault;
    }
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

async fn secret(
    State(kms): State<Arc<Kms>>,
    Path((mount, kind, path)): Path<(String, String, String)>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(fault) = kms.faulty() {
        return fault;
    }
    let Some((_, token)) = kms.token(&headers) else { return denied() };
    if mount != MOUNT {
        let text = format!("no handler for route \"{mount}/{kind}/{path}\". route entry not found.");
        return errors(StatusCode::NOT_FOUND, &[&text]);
    }
    if !path.starts_with(&format!("orgs/{}/k8s/", token.org)) {
        return denied_by_policy();
    }
    let answer = match (kind.as_str(), method) {
        ("data", Method::GET) => return read(&kms, &path),
        ("data", Method::POST | Method::PUT) => write(&kms, &path, &body),
        ("metadata", Method::DELETE) => {
            kms.stored().secrets.remove(&path);
            StatusCode::NO_CONTENT.into_response()
        }
        ("metadata", Method::GET) => return metadata(&kms, &path),
        _ => return errors(StatusCode::METHOD_NOT_ALLOWED, &["unsupported operation"]),
    };
    if kms.stored().fault == KmsFault::LostAnswers {
        return errors(StatusCode::INTERNAL_SERVER_ERROR, &["context canceled"]);
    }
    answer
}

fn version_metadata(version: usize, destroyed: bool) -> Value {
    json!({
        "version": version,
        "created_time": "2026-01-01T00:00:00Z",
        "deletion_time": "",
        "destroyed": destroyed,
        "custom_metadata": null,
    })
}

fn read(kms: &Kms, path: &str) -> Response {
    let stored = kms.stored();
    let Some(versions) = stored.secrets.get(path).filter(|versions| !versions.is_empty()) else {
        return errors(StatusCode::NOT_FOUND, &[]);
    };
    match versions.last() {
        Some(Some(data)) => {
            Json(json!({"data": {"data": data, "metadata": version_metadata(versions.len(), false)}}))
                .into_response()
        }
        _ => {
            let body = json!({"data": {"data": null, "metadata": version_metadata(versions.len(), true)}});
            (StatusCode::NOT_FOUND, Json(body)).into_response()
        }
    }
}

fn metadata(kms: &Kms, path: &str) -> Response {
    let stored = kms.stored();
    let Some(versions) = stored.secrets.get(path) else { return errors(StatusCode::NOT_FOUND, &[]) };
    Json(json!({"data": {"current_version": versions.len(), "max_versions": 0}})).into_response()
}

#[derive(Deserialize)]
struct Write {
    data: Map<String, Value>,
    #[serde(default)]
    options: Map<String, Value>,
}

fn write(kms: &Kms, path: &str, body: &[u8]) -> Response {
    let Ok(write) = serde_json::from_slice::<Write>(body) else {
        return errors(StatusCode::BAD_REQUEST, &["no data provided"]);
    };
    if body.len() > MAX_VALUE {
        let text = format!(
            "put failed due to value being too large; got {} bytes, max: {MAX_VALUE} bytes",
            body.len()
        );
        return errors(StatusCode::INTERNAL_SERVER_ERROR, &[&text]);
    }
    let mut stored = kms.stored();
    let versions = stored.secrets.entry(path.to_owned()).or_default();
    if let Some(cas) = write.options.get("cas").and_then(Value::as_u64)
        && cas != versions.len() as u64
    {
        return errors(
            StatusCode::BAD_REQUEST,
            &["check-and-set parameter did not match the current version"],
        );
    }
    versions.push(Some(Value::Object(write.data)));
    Json(json!({"data": version_metadata(versions.len(), false)})).into_response()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
