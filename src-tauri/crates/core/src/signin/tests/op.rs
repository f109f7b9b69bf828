//! A scripted provider: sound by itself, and with a fault wherever a test wants one. It rotates refresh tokens and ends
//! the family when an old one comes back, as strict providers do.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use super::served::{Reply, Request, Served};
use super::signed::Signer;

/// When every test begins, in seconds since 1970.
pub const NOW: i64 = 1_800_000_000;

pub struct Op {
    pub served: Served,
    script: Arc<Script>,
}

#[derive(Default)]
pub struct Script {
    state: Mutex<State>,
}

pub struct State {
    pub signer: Signer,
    /// What `/jwks` shows.
    pub published: Vec<Value>,
    /// Over the sound discovery document; null removes.
    pub metadata: Value,
    /// Over the sound claims of the next id tokens; null removes.
    pub claims: Value,
    /// Over the sound token answers; null removes.
    pub answer: Value,
    /// Replies that come first, by path.
    pub faults: HashMap<&'static str, VecDeque<Reply>>,
    /// Holds every token answer until permits are given.
    pub gate: Option<Arc<tokio::sync::Semaphore>>,
    /// Bodies that came, by path.
    pub asked: HashMap<String, Vec<String>>,
    /// Over the code that the browser is given.
    pub access_lifetime: i64,
    /// What `Date` says, in seconds since 1970.
    pub date: i64,
    /// Seen in the authorization request of the newest attempt.
    pub nonce: String,
    refresh: u32,
    family_ended: bool,
    pub reuses: u32,
    pub canary: String,
}

impl Default for State {
    fn default() -> Self {
        let signer = Signer::new(Algorithm::ES256, "k1");
        Self {
            published: vec![json!(signer.jwk)],
            signer,
            metadata: json!({}),
            claims: json!({}),
            answer: json!({}),
            faults: HashMap::new(),
            gate: None,
            asked: HashMap::new(),
            access_lifetime: 300,
            date: NOW,
            nonce: String::new(),
            refresh: 0,
            family_ended: false,
            reuses: 0,
            canary: "c4n4ry".into(),
        }
    }
}

impl Op {
    pub async fn start() -> Self {
        let script = Arc::new(Script::default());
        let answering = Arc::clone(&script);
        let base = Arc::new(std::sync::OnceLock::<String>::new());
        let known = Arc::clone(&base);
        let served = Served::new(move |request| {
            answering.answer(known.get().map(String::as_str).unwrap_or_default(), request)
        })
        .await;
        let _ = base.set(served.url.clone());
        Self { served, script }
    }

    /// To script, or to look at what came.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.script.lock()
    }

    /// How often a path was asked.
    pub fn asked(&self, path: &str) -> usize {
        self.state().asked.get(path).map_or(0, Vec::len)
    }

    /// The form fields of one request.
    pub fn form(&self, path: &str, nth: usize) -> HashMap<String, String> {
        let state = self.state();
        url::form_urlencoded::parse(state.asked[path][nth].as_bytes()).into_owned().collect()
    }

    /// Has the next request to a path answered so.
    pub fn fault(&self, path: &'static str, reply: Reply) {
        self.state().faults.entry(path).or_default().push_back(reply);
    }

    /// What the browser comes back with when the person agreed: the callback of an authorization request.
    pub fn callback(&self, link: &Url) -> Url {
        let asked: HashMap<String, String> = link.query_pairs().into_owned().collect();
        self.state().nonce.clone_from(&asked["nonce"]);
        let code = format!("code-{}", self.state().canary);
        let mut back = Url::parse(&asked["redirect_uri"]).expect("a URL");
        back.query_pairs_mut().extend_pairs([
            ("code", code.as_str()),
            ("state", &asked["state"]),
            ("iss", &self.served.url),
        ]);
        back
    }
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, base: &str, request: &Request) -> Reply {
        let mut state = self.lock();
        let path = request.path.split('?').next().unwrap_or_default().to_owned();
        state.asked.entry(path.clone()).or_default().push(request.body.clone());
        if let Some(fault) = state.faults.get_mut(path.as_str()).and_then(VecDeque::pop_front) {
            return fault;
        }
        let date = jiff::Timestamp::from_second(state.date).expect("a date");
        let date =
            jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&date).expect("a date");
        let reply = match path.as_str() {
            "/.well-known/openid-configuration" => Reply::json(200, &state.discovery(base)),
            "/jwks" => Reply::json(200, &json!({ "keys": state.published })),
            "/token" => state.token(base, &request.body),
            "/revoke" => Reply::json(200, &json!({})),
            _ => Reply::json(404, &json!({})),
        };
        let dated = match reply {
            Reply::Says(status, headers, body) => {
                Reply::Says(status, format!("{headers}Date: {date}\r\n"), body)
            }
            other => other,
        };
        match &state.gate {
            Some(gate) if path == "/token" => Reply::After(Arc::clone(gate), Box::new(dated)),
            _ => dated,
        }
    }
}

impl State {
    fn discovery(&self, base: &str) -> Value {
        let sound = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "jwks_uri": format!("{base}/jwks"),
            "revocation_endpoint": format!("{base}/revoke"),
            "authorization_response_iss_parameter_supported": true,
            "id_token_signing_alg_values_supported": ["ES256"],
        });
        over(sound, &self.metadata)
    }

    /// The refresh token that is good now.
    pub fn good_refresh_token(&self) -> String {
        format!("rt-{}-{}", self.canary, self.refresh)
    }

    /// The access token given last.
    pub fn last_access_token(&self) -> String {
        format!("at-{}-{}", self.canary, self.refresh)
    }

    fn token(&mut self, base: &str, body: &str) -> Reply {
        let form: HashMap<String, String> =
            url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        if form.get("grant_type").is_some_and(|grant| grant == "refresh_token") {
            if form["refresh_token"] != self.good_refresh_token() {
                self.reuses += 1;
                self.family_ended = true;
            }
            if self.family_ended {
                let why = json!({"error": "invalid_grant", "error_description": "grant request is invalid"});
                return Reply::json(400, &why);
            }
        }
        self.refresh += 1;
        let access = self.last_access_token();
        let hash = URL_SAFE_NO_PAD.encode(&Sha256::digest(&access)[..16]);
        let now = self.date;
        let sound = json!({
            "iss": base, "sub": "ada", "aud": "muster", "nonce": self.nonce, "iat": now, "exp": now + 3600,
            "at_hash": hash, "name": "Ada", "org": "orchard", "jti": self.canary,
        });
        let id = self.signer.sign(&over(sound, &self.claims));
        let sound = json!({
            "access_token": access, "token_type": "Bearer", "expires_in": self.access_lifetime,
            "refresh_token": self.good_refresh_token(), "id_token": id,
        });
        Reply::json(200, &over(sound, &self.answer))
    }
}

fn over(mut sound: Value, changes: &Value) -> Value {
    let all = sound.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        match value {
            Value::Null => drop(all.remove(name)),
            value => drop(all.insert(name.clone(), value.clone())),
        }
    }
    sound
}
