//! An OpenID Connect provider: discovery, authorization code with PKCE, rotating refresh tokens, revocation.
//!
//! It is strict where real ones are: PKCE with S256 is required, a redirect URI has to be a loopback one (any port,
//! RFC 8252), a code works once, a refresh token works once and its reuse ends the whole family, callbacks carry `iss`.
//!
//! Deliberately absent: passwords. Whoever sees the page picks a person.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use muster_core::clock::Clock;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::DemoError;
use crate::keys::SigningKey;

/// The client that Muster is registered as.
pub const CLIENT_ID: &str = "muster-desktop";
/// Audience of access tokens.
pub const KMS_AUDIENCE: &str = "kms";

/// Somebody who can sign in.
#[derive(Debug, Clone)]
pub struct Person {
    /// `sub`.
    pub id: &'static str,
    /// `name`.
    pub name: &'static str,
    /// `orgs`.
    pub orgs: &'static [&'static str],
}

/// The demo's people.
pub const PEOPLE: [Person; 3] = [
    Person { id: "ada", name: "Ada Okafor", orgs: &["orchard"] },
    Person { id: "bo", name: "Bo Lindqvist", orgs: &["harbor"] },
    Person { id: "cyd", name: "Cyd Marsh", orgs: &["orchard", "harbor"] },
];

/// The provider's state.
pub struct Provider {
    issuer: String,
    key: SigningKey,
    clock: Arc<dyn Clock>,
    canary: String,
    access_lifetime: i64,
    state: Mutex<Issued>,
}

#[derive(Default)]
struct Issued {
    counter: u64,
    requests: HashMap<String, Authorization>,
    codes: HashMap<String, Code>,
    refresh: HashMap<String, Refresh>,
    ended_families: Vec<u64>,
}

#[derive(Clone, Deserialize)]
struct Authorization {
    client_id: String,
    redirect_uri: String,
    response_type: String,
    #[serde(default)]
    scope: String,
    state: String,
    #[serde(default)]
    nonce: String,
    #[serde(default)]
    code_challenge: String,
    #[serde(default)]
    code_challenge_method: String,
}

struct Code {
    request: Authorization,
    person: &'static str,
    family: u64,
    used: bool,
}

#[derive(Clone)]
struct Refresh {
    person: &'static str,
    nonce: String,
    family: u64,
    used: bool,
}

impl Provider {
    /// A provider that signs with this key. Tokens hold the canary, so that a test can look for it.
    pub fn new(issuer: &str, key: SigningKey, clock: Arc<dyn Clock>, canary: &str) -> Arc<Self> {
        Arc::new(Self {
            issuer: issuer.to_owned(),
            key,
            clock,
            canary: canary.to_owned(),
            access_lifetime: 300,
            state: Mutex::default(),
        })
    }

    /// The routes.
    pub fn routes(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/jwks", get(jwks))
            .route("/authorize", get(authorize))
            .route("/login", post(login))
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .with_state(Arc::clone(self))
    }

    fn issued(&self) -> std::sync::MutexGuard<'_, Issued> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A random name that carries the canary.
    fn token_name(&self, kind: &str) -> String {
        let bytes: [u8; 18] = rand::random();
        let canary = if self.canary.is_empty() { String::new() } else { format!("{}-", self.canary) };
        format!("{kind}-{canary}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    fn tokens(&self, person: &'static str, nonce: &str, family: u64) -> Result<Value, DemoError> {
        let person_row =
            PEOPLE.iter().find(|row| row.id == person).ok_or_else(|| DemoError::Start("nobody".into()))?;
        let now = self.clock.now().as_second();
        let claims = |audience: &str, lifetime: i64| {
            let mut claims = Map::new();
            for (name, value) in [
                ("iss", json!(self.issuer)),
                ("sub", json!(person)),
                ("aud", json!(audience)),
                ("iat", json!(now)),
                ("exp", json!(now + lifetime)),
                ("name", json!(person_row.name)),
                ("preferred_username", json!(person)),
                ("orgs", json!(person_row.orgs)),
                ("jti", json!(self.token_name("jti"))),
            ] {
                claims.insert(name.to_owned(), value);
            }
            claims
        };
        let access = self.key.sign(&claims(KMS_AUDIENCE, self.access_lifetime))?;
        let mut id = claims(CLIENT_ID, 3600);
        if !nonce.is_empty() {
            id.insert("nonce".into(), json!(nonce));
        }
        let digest = Sha256::digest(access.as_bytes());
        id.insert("at_hash".into(), json!(URL_SAFE_NO_PAD.encode(&digest[..16])));
        let refresh = self.token_name("rt");
        self.issued()
            .refresh
            .insert(refresh.clone(), Refresh { person, nonce: nonce.to_owned(), family, used: false });
        Ok(json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": self.access_lifetime,
            "refresh_token": refresh,
            "id_token": self.key.sign(&id)?,
        }))
    }
}

async fn discovery(State(op): State<Arc<Provider>>) -> Json<Value> {
    let at = |path: &str| format!("{}{path}", op.issuer);
    Json(json!({
        "issuer": op.issuer,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "jwks_uri": at("/jwks"),
        "revocation_endpoint": at("/revoke"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    }))
}

async fn jwks(State(op): State<Arc<Provider>>) -> Json<Value> {
    Json(json!(op.key.jwks()))
}

fn page(status: StatusCode, title: &str, body: &str) -> Response {
    let policy =
        format!("default-src 'none'; style-src 'sha256-{STYLE_HASH}'; form-action 'self' http://127.0.0.1:*");
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style><main><h1>{title}</h1>{body}</main></html>"
    );
    let headers = [(header::CONTENT_SECURITY_POLICY, policy), (header::CACHE_CONTROL, "no-store".to_owned())];
    (status, headers, Html(html)).into_response()
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:0;color-scheme:light dark;background:Canvas}\
main{max-width:26rem;margin:14vh auto;padding:0 1.25rem}h1{font-size:1.5rem}form{display:grid;gap:.6rem}\
button{font:inherit;text-align:left;padding:.8rem 1rem;border:1px solid GrayText;border-radius:.6rem;background:Field;\
color:FieldText;cursor:pointer}button:hover,button:focus-visible{outline:2px solid Highlight}small{color:GrayText;display:block}";
/// SHA-256 of [`STYLE`], for the pages' policy; a test holds the two together.
const STYLE_HASH: &str = "LXwiF7g5Ps31Kd62a/vYbWu96l/K+taEJQUDTSOBrHQ=";

fn loopback(redirect: &str) -> bool {
    Url::parse(redirect).is_ok_and(|url| {
        url.scheme() == "http"
            && matches!(url.host_str(), Some("127.0.0.1" | "[::1]"))
            && url.path() == "/callback"
    })
}

async fn authorize(State(op): State<Arc<Provider>>, Query(request): Query<Authorization>) -> Response {
    if request.client_id != CLIENT_ID || !loopback(&request.redirect_uri) {
        let text = "<p>This program or the address it wants to return to is not registered here.</p>";
        return page(StatusCode::BAD_REQUEST, "Not registered", text);
    }
    let pkce = request.code_challenge_method == "S256" && request.code_challenge.len() == 43;
    if request.response_type != "code" || !pkce || !request.scope.split(' ').any(|scope| scope == "openid") {
        return back(&op, &request, &[("error", "invalid_request")]);
    }
    let id = op.token_name("rq");
    op.issued().requests.insert(id.clone(), request);
    let people: String = PEOPLE
        .iter()
        .map(|person| {
            format!(
                "<button name=\"person\" value=\"{}\">{}<small>{}</small></button>",
                person.id,
                person.name,
                person.orgs.join(", ")
            )
        })
        .collect();
    let form = format!(
        "<p>Muster asks who you are. Nobody here has a password: this provider belongs to the demo and runs on your own \
         computer.</p><form method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"request\" value=\"{id}\">{people}\
         <button name=\"person\" value=\"\">Cancel</button></form>"
    );
    page(StatusCode::OK, "Sign in to the demo org", &form)
}

fn back(op: &Provider, request: &Authorization, pairs: &[(&str, &str)]) -> Response {
    let Ok(mut url) = Url::parse(&request.redirect_uri) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    {
        let mut query = url.query_pairs_mut();
        query.extend_pairs(pairs).append_pair("state", &request.state).append_pair("iss", &op.issuer);
    }
    Redirect::to(url.as_str()).into_response()
}

#[derive(Deserialize)]
struct Login {
    request: String,
    person: String,
}

async fn login(State(op): State<Arc<Provider>>, Form(login): Form<Login>) -> Response {
    let Some(request) = op.issued().requests.remove(&login.request) else {
        return page(
            StatusCode::BAD_REQUEST,
            "This page was used already",
            "<p>Go back to Muster and sign in again.</p>",
        );
    };
    let Some(person) = PEOPLE.iter().find(|person| person.id == login.person) else {
        return back(
            &op,
            &request,
            &[("error", "access_denied"), ("error_description", "the person cancelled")],
        );
    };
    let code = op.token_name("code");
    {
        let mut issued = op.issued();
        issued.counter += 1;
        let family = issued.counter;
        issued
            .codes
            .insert(code.clone(), Code { request: request.clone(), person: person.id, family, used: false });
    }
    back(&op, &request, &[("code", &code)])
}

#[derive(Deserialize)]
struct TokenRequest {
    grant_type: String,
    #[serde(default)]
    client_id: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    redirect_uri: String,
    #[serde(default)]
    code_verifier: String,
    #[serde(default)]
    refresh_token: String,
}

fn oauth_error(error: &str) -> Response {
    let body = json!({"error": error, "error_description": "grant request is invalid"});
    (StatusCode::BAD_REQUEST, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

async fn token(
    State(op): State<Arc<Provider>>,
    headers: HeaderMap,
    Form(mut asked): Form<TokenRequest>,
) -> Response {
    // A public client names itself in the body; some libraries use Basic with an empty password instead.
    if asked.client_id.is_empty()
        && let Some(basic) = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok())
        && let Some(decoded) = basic
            .strip_prefix("Basic ")
            .and_then(|b| base64::engine::general_purpose::STANDARD.decode(b).ok())
    {
        asked.client_id = String::from_utf8_lossy(&decoded).trim_end_matches(':').to_owned();
    }
    if asked.client_id != CLIENT_ID {
        return oauth_error("invalid_client");
    }
    let granted = match asked.grant_type.as_str() {
        "authorization_code" => by_code(&op, &asked),
        "refresh_token" => by_refresh(&op, &asked),
        _ => return oauth_error("unsupported_grant_type"),
    };
    let Some((person, nonce, family)) = granted else { return oauth_error("invalid_grant") };
    match op.tokens(person, &nonce, family) {
        Ok(tokens) => ([(header::CACHE_CONTROL, "no-store")], Json(tokens)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn by_code(op: &Provider, asked: &TokenRequest) -> Option<(&'static str, String, u64)> {
    let mut issued = op.issued();
    let Issued { codes, ended_families, .. } = &mut *issued;
    let code = codes.get_mut(&asked.code)?;
    if code.used {
        // RFC 6749, 4.1.2: a code that comes twice was stolen; what it gave is taken back.
        ended_families.push(code.family);
        return None;
    }
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(asked.code_verifier.as_bytes()));
    if challenge != code.request.code_challenge || asked.redirect_uri != code.request.redirect_uri {
        return None;
    }
    code.used = true;
    Some((code.person, code.request.nonce.clone(), code.family))
}

fn by_refresh(op: &Provider, asked: &TokenRequest) -> Option<(&'static str, String, u64)> {
    let mut issued = op.issued();
    let Issued { refresh, ended_families, .. } = &mut *issued;
    let token = refresh.get_mut(&asked.refresh_token)?;
    if token.used {
        ended_families.push(token.family);
        return None;
    }
    if ended_families.contains(&token.family) {
        return None;
    }
    token.used = true;
    Some((token.person, token.nonce.clone(), token.family))
}

#[derive(Deserialize)]
struct Revocation {
    token: String,
}

async fn revoke(State(op): State<Arc<Provider>>, Form(asked): Form<Revocation>) -> StatusCode {
    let mut issued = op.issued();
    if let Some(family) = issued.refresh.get(&asked.token).map(|token| token.family) {
        issued.ended_families.push(family);
    }
    StatusCode::OK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_style_is_the_one_that_their_policy_allows() {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
        assert_eq!(hash, STYLE_HASH);
    }
}
