//! The part of the contract that Muster's own code never provokes: the provider's answers to a thief, on the wire.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use crate::contract::{CLIENT_ID, ProviderUnderTest};
use crate::person::Person;

const REDIRECT: &str = "http://127.0.0.1:4/callback";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters";

/// A client that does what it is told, right or wrong.
pub struct Raw {
    client: reqwest::Client,
    discovery: Value,
    scopes: String,
}

impl Raw {
    pub async fn new(provider: &impl ProviderUnderTest) -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .expect("a client");
        let at = format!("{}/.well-known/openid-configuration", provider.issuer());
        let answer = client.get(at).send().await.expect("it answers");
        let text = answer.text().await.expect("a body");
        let scopes: Vec<String> = serde_json::from_str(provider.scopes()).expect("a list");
        let discovery = serde_json::from_str(&text).expect("it is JSON");
        Self { client, discovery, scopes: scopes.join(" ") }
    }

    fn endpoint(&self, name: &str) -> &str {
        self.discovery[name].as_str().unwrap_or_default()
    }

    /// The page of a sound attempt, with changes; an empty value removes.
    fn page(&self, changes: &[(&str, &str)]) -> Url {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let mut page = Url::parse(self.endpoint("authorization_endpoint")).expect("a URL");
        let sound = [
            ("client_id", CLIENT_ID),
            ("response_type", "code"),
            ("redirect_uri", REDIRECT),
            ("scope", &self.scopes),
            ("prompt", "consent"),
            ("state", "a-state"),
            ("nonce", "a-nonce"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        for (name, value) in sound {
            let value =
                changes.iter().find(|(changed, _)| *changed == name).map_or(value, |(_, value)| value);
            if !value.is_empty() {
                page.query_pairs_mut().append_pair(name, value);
            }
        }
        page
    }

    async fn callback(&self, changes: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let back = Person::new("ada").walk(&self.page(changes)).await?;
        Ok(back.query_pairs().into_owned().collect())
    }

    async fn code(&self) -> String {
        let back = self.callback(&[]).await.expect("the browser comes back");
        value(&back, "code").expect("a code").to_owned()
    }

    /// The token endpoint's answer, or its error code.
    async fn token(&self, form: &[(&str, &str)]) -> Result<Value, String> {
        let answer =
            self.client.post(self.endpoint("token_endpoint")).form(form).send().await.expect("it answers");
        let status = answer.status();
        let text = answer.text().await.expect("a body");
        let body: Value = serde_json::from_str(&text).expect("it is JSON");
        if status == 200 {
            return Ok(body);
        }
        assert_eq!(status, 400, "{body}");
        Err(body["error"].as_str().unwrap_or_default().to_owned())
    }

    async fn exchange(&self, code: &str, verifier: &str) -> Result<Value, String> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("client_id", CLIENT_ID),
            ("code", code),
            ("redirect_uri", REDIRECT),
        ];
        if !verifier.is_empty() {
            form.push(("code_verifier", verifier));
        }
        self.token(&form).await
    }

    /// Presents a refresh token; the answer, or the error code.
    pub async fn refresh(&self, token: &str) -> Result<Value, String> {
        self.token(&[("grant_type", "refresh_token"), ("client_id", CLIENT_ID), ("refresh_token", token)])
            .await
    }
}

fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn refresh_token(answer: &Value) -> &str {
    answer["refresh_token"].as_str().expect("a refresh token")
}

/// The claims of a token, not verified: only to look at.
fn claims(answer: &Value) -> Value {
    let payload = answer["id_token"].as_str().and_then(|token| token.split('.').nth(1)).expect("an id token");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).expect("base64")).expect("JSON")
}

const INVALID_GRANT: &str = "invalid_grant";

pub async fn discovery_says_what_is_relied_on(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    assert_eq!(raw.endpoint("issuer"), provider.issuer());
    for endpoint in ["authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint"] {
        assert!(raw.endpoint(endpoint).starts_with(&provider.issuer()), "{endpoint}");
    }
    assert_eq!(raw.discovery["authorization_response_iss_parameter_supported"], true);
    let methods = raw.discovery["code_challenge_methods_supported"].as_array().expect("a list");
    assert!(methods.iter().any(|method| method == "S256"));
}

pub async fn callbacks_carry_code_state_and_issuer(provider: &impl ProviderUnderTest) {
    let back = Raw::new(provider).await.callback(&[]).await.expect("the browser comes back");
    assert!(value(&back, "code").is_some_and(|code| !code.is_empty()));
    assert_eq!(value(&back, "state"), Some("a-state"));
    assert_eq!(value(&back, "iss"), Some(provider.issuer().as_str()));
}

pub async fn a_code_works_once_and_its_replay_ends_what_it_gave(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    let code = raw.code().await;
    let first = raw.exchange(&code, VERIFIER).await.expect("it is good");
    assert_eq!(raw.exchange(&code, VERIFIER).await, Err(INVALID_GRANT.into()));
    assert_eq!(
        raw.refresh(refresh_token(&first)).await,
        Err(INVALID_GRANT.into()),
        "what it gave is taken back"
    );
}

pub async fn a_wrong_or_missing_verifier_is_refused(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    for wrong in ["another-verifier-of-at-least-forty-three-characters", ""] {
        let code = raw.code().await;
        assert_eq!(raw.exchange(&code, wrong).await, Err(INVALID_GRANT.into()), "{wrong:?}");
    }
}

pub async fn an_attempt_without_s256_is_refused(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    for changes in [
        &[("code_challenge", ""), ("code_challenge_method", "")][..],
        &[("code_challenge", VERIFIER), ("code_challenge_method", "plain")],
        &[("code_challenge", VERIFIER), ("code_challenge_method", "")],
    ] {
        let back = raw.callback(changes).await.expect("the browser comes back");
        assert_eq!(value(&back, "error"), Some("invalid_request"), "{changes:?}");
        assert_eq!(value(&back, "state"), Some("a-state"), "a refusal is of the attempt too");
        assert_eq!(value(&back, "code"), None);
    }
}

pub async fn another_redirect_is_never_followed(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    for redirect in [
        "http://127.0.0.1:4/other",
        "http://localhost:4/callback",
        "http://127.0.0.1.evil.example:4/callback",
        "https://evil.example/callback",
    ] {
        let stays = raw.callback(&[("redirect_uri", redirect)]).await;
        assert!(stays.is_err_and(|why| why.contains("400")), "{redirect}");
    }
    assert!(raw.callback(&[("client_id", "nobody")]).await.is_err_and(|why| why.contains("400")));
}

pub async fn a_refresh_token_works_once_and_its_reuse_ends_the_family(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    let first = raw.exchange(&raw.code().await, VERIFIER).await.expect("it is good");
    let second = raw.refresh(refresh_token(&first)).await.expect("it is good");
    assert_ne!(refresh_token(&first), refresh_token(&second), "it rotates");
    assert_eq!(raw.refresh(refresh_token(&first)).await, Err(INVALID_GRANT.into()));
    assert_eq!(raw.refresh(refresh_token(&second)).await, Err(INVALID_GRANT.into()), "the family has ended");
}

pub async fn a_refreshed_id_token_is_of_the_same_person_and_repeats_the_nonce_or_has_none(
    provider: &impl ProviderUnderTest,
) {
    let raw = Raw::new(provider).await;
    let first = raw.exchange(&raw.code().await, VERIFIER).await.expect("it is good");
    let second = raw.refresh(refresh_token(&first)).await.expect("it is good");
    let (first, second) = (claims(&first), claims(&second));
    assert_eq!(first["nonce"], "a-nonce");
    assert!(second["nonce"].is_null() || second["nonce"] == "a-nonce", "{second}");
    for claim in ["iss", "sub", "aud", "orgs"] {
        assert_eq!(first[claim], second[claim], "{claim}");
    }
    assert_eq!(first["orgs"], serde_json::json!(["orchard"]));
}

pub async fn revocation_answers_200_whatever_the_token(provider: &impl ProviderUnderTest) {
    let raw = Raw::new(provider).await;
    let first = raw.exchange(&raw.code().await, VERIFIER).await.expect("it is good");
    for token in ["unknown", refresh_token(&first)] {
        let form = [("token", token), ("token_type_hint", "refresh_token"), ("client_id", CLIENT_ID)];
        let endpoint = raw.endpoint("revocation_endpoint");
        let answer = raw.client.post(endpoint).form(&form).send().await.expect("it answers");
        assert_eq!(answer.status(), 200);
    }
    assert_eq!(raw.refresh(refresh_token(&first)).await, Err(INVALID_GRANT.into()));
}
