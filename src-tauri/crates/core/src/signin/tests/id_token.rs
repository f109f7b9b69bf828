//! Id tokens from the attacker's side: one sound token, and everything that has to make it unsound.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::signed::{Signer, forged};
use crate::signin::SignInError;
use crate::signin::id_token::{Expected, Nonce, VerifiedIdToken, key_id, verify};

const NOW: i64 = 1_800_000_000;
const ACCESS: &str = "an-access-token";

fn sound() -> Value {
    let hash = URL_SAFE_NO_PAD.encode(&Sha256::digest(ACCESS)[..16]);
    json!({
        "iss": "https://id.example", "sub": "ada", "aud": "muster", "azp": "muster", "nonce": "n1",
        "iat": NOW, "nbf": NOW, "exp": NOW + 300, "at_hash": hash, "name": "Ada", "org": "orchard",
    })
}

fn expected<'a>() -> Expected<'a> {
    Expected {
        issuer: "https://id.example",
        client_id: "muster",
        nonce: Nonce::Of("n1"),
        algorithms: &[],
        access_token: Some(ACCESS),
        now: Timestamp::from_second(NOW).expect("a time"),
        skew_seconds: 0,
    }
}

fn signer() -> Signer {
    Signer::new(Algorithm::ES256, "k1")
}

fn judged(claims: &Value) -> Result<VerifiedIdToken, SignInError> {
    let signer = signer();
    verify(&signer.sign(claims), &signer.jwk, &expected())
}

fn assert_refused(outcome: Result<VerifiedIdToken, SignInError>, what: &str, because: &str) {
    match outcome {
        Err(SignInError::Untrusted { why }) => {
            assert!(why.contains(because), "{what} was refused because {why}")
        }
        Err(other) => panic!("{what} was refused as {other}"),
        Ok(_) => panic!("{what} passed"),
    }
}

#[test]
fn a_sound_token_of_every_allowed_algorithm_passes() {
    for algorithm in [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA] {
        let signer = Signer::new(algorithm, "k1");
        let token = signer.sign(&sound());
        assert_eq!(key_id(&token).expect("it is a token").as_deref(), Some("k1"));
        let verified = verify(&token, &signer.jwk, &expected()).expect("it is sound");
        assert_eq!((verified.subject(), verified.display_name()), ("ada", "Ada"));
        assert_eq!(verified.expires().as_second(), NOW + 300);
    }
}

#[test]
fn a_token_that_nobody_signed_is_refused() {
    let signer = signer();
    for header in [
        json!({"alg": "none"}),
        json!({"alg": "None", "kid": "k1"}),
        json!({"alg": "", "kid": "k1"}),
        json!({"kid": "k1"}),
        json!({"alg": "ES256", "kid": "k1"}),
    ] {
        for signature in [&b""[..], &[0; 64]] {
            let token = forged(&header, &sound(), signature);
            assert!(verify(&token, &signer.jwk, &expected()).is_err(), "{header}");
        }
    }
    for text in ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", "{}", "\0"] {
        assert!(verify(text, &signer.jwk, &expected()).is_err(), "{text:?}");
        assert!(key_id(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_token_signed_with_the_public_key_as_an_hmac_secret_is_refused() {
    for algorithm in [Algorithm::RS256, Algorithm::ES256] {
        let signer = Signer::new(algorithm, "k1");
        let public = serde_json::to_string(&signer.jwk).expect("JSON");
        for secret in [public.as_bytes(), b"", signer.encoding.as_bytes()] {
            for hmac in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
                let mut header = Header::new(hmac);
                header.kid = Some("k1".into());
                let Ok(key) = EncodingKey::from_secret(secret) else { continue };
                let token = encode(&header, &sound(), &key).expect("it can be signed");
                assert_refused(verify(&token, &signer.jwk, &expected()), "an HMAC", "algorithm");
            }
        }
    }
    // Nor where the provider's own set holds a symmetric key.
    let secret: jsonwebtoken::jwk::Jwk =
        serde_json::from_value(json!({"kty": "oct", "k": "c2VjcmV0", "kid": "k1"})).expect("a key");
    let key = EncodingKey::from_secret(b"secret").expect("a key");
    let token = encode(&Header::new(Algorithm::HS256), &sound(), &key).expect("it can be signed");
    assert_refused(verify(&token, &secret, &expected()), "an HMAC", "algorithm");
    assert!(verify(&signer().sign(&sound()), &secret, &expected()).is_err());
}

#[test]
fn a_changed_token_and_one_of_another_key_are_refused() {
    let signer = signer();
    let token = signer.sign(&sound());
    let parts: Vec<&str> = token.split('.').collect();
    let mut other = sound();
    other["org"] = json!("acme");
    let changed = format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(other.to_string()), parts[2]);
    assert_refused(verify(&changed, &signer.jwk, &expected()), "changed claims", "signature");
    let cut = format!("{}.{}.{}", parts[0], parts[1], &parts[2][..80]);
    assert_refused(verify(&cut, &signer.jwk, &expected()), "a cut signature", "signature");
    let another = Signer::new(Algorithm::ES256, "k1");
    assert_refused(verify(&token, &another.jwk, &expected()), "another key", "signature");
}

#[test]
fn a_key_that_the_token_brings_along_is_not_looked_at() {
    let (provider, attacker) = (signer(), signer());
    let mut header = Header::new(Algorithm::ES256);
    header.kid = Some("k1".into());
    header.jwk = Some(attacker.jwk.clone());
    header.jku = Some("https://evil.example/jwks".into());
    header.x5u = Some("https://evil.example/x5u".into());
    let token = attacker.sign_with(&header, &sound());
    assert_refused(verify(&token, &provider.jwk, &expected()), "its own key", "signature");
}

#[test]
fn the_algorithm_has_to_be_one_of_the_key_and_of_the_provider() {
    let rsa = Signer::new(Algorithm::RS256, "k1");
    let only_es256 = Expected { algorithms: &["ES256".to_owned(), "none".to_owned()], ..expected() };
    assert_refused(verify(&rsa.sign(&sound()), &rsa.jwk, &only_es256), "an unnamed algorithm", "algorithm");
    let mut header = Header::new(Algorithm::PS256);
    header.kid = Some("k1".into());
    let token = rsa.sign_with(&header, &sound());
    assert_refused(verify(&token, &rsa.jwk, &expected()), "PS256 by a key for RS256", "algorithm");
    let token = Signer::new(Algorithm::ES256, "k1").sign(&sound());
    assert_refused(verify(&token, &rsa.jwk, &expected()), "ES256 by an RSA key", "");
    // A provider that names only what is never allowed cannot allow it.
    let only_none = Expected { algorithms: &["none".to_owned(), "HS256".to_owned()], ..expected() };
    let token = forged(&json!({"alg": "none"}), &sound(), b"");
    assert!(verify(&token, &rsa.jwk, &only_none).is_err());
}

#[test]
fn every_claim_that_is_wrong_or_missing_makes_the_token_unsound() {
    for (claim, value, because) in [
        ("iss", json!("https://id.example/"), "issuer"),
        ("iss", json!("https://ID.example"), "issuer"),
        ("iss", json!(["https://id.example"]), "issuer"),
        ("iss", Value::Null, "issuer"),
        ("aud", json!("other"), "another program"),
        ("aud", json!("MUSTER"), "another program"),
        ("aud", json!([]), "another program"),
        ("aud", json!({"muster": true}), "another program"),
        ("aud", Value::Null, "another program"),
        ("azp", json!("other"), "handed to"),
        ("azp", json!(["muster"]), "handed to"),
        ("azp", json!(1), "handed to"),
        ("nonce", json!("n2"), "another attempt"),
        ("nonce", json!(""), "another attempt"),
        ("nonce", json!(["n1"]), "another attempt"),
        ("nonce", Value::Null, "another attempt"),
        ("exp", json!(NOW - 60), "expired"),
        ("exp", json!(0), "expired"),
        ("exp", json!(-1), "expired"),
        ("exp", json!("2099-01-01"), "when it expires"),
        ("exp", Value::Null, "when it expires"),
        ("exp", json!(1e300), "no date"),
        ("iat", json!(NOW + 61), "in the future"),
        ("iat", json!(format!("{NOW}")), "when it was issued"),
        ("iat", Value::Null, "when it was issued"),
        ("nbf", json!(NOW + 61), "not valid yet"),
        ("nbf", json!("now"), "from when on"),
        ("sub", json!(""), "names nobody"),
        ("sub", json!(7), "names nobody"),
        ("sub", Value::Null, "names nobody"),
        ("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA"), "another access token"),
        ("at_hash", json!(""), "another access token"),
        ("at_hash", json!(5), "another access token"),
    ] {
        let mut claims = sound();
        if value.is_null() {
            claims.as_object_mut().expect("an object").remove(claim);
        } else {
            claims[claim] = value.clone();
        }
        assert_refused(judged(&claims), &format!("{claim} = {value}"), because);
    }
}

#[test]
fn several_audiences_need_our_name_as_the_one_it_was_handed_to() {
    let with = |aud: Value, azp: Value| {
        let mut claims = sound();
        claims["aud"] = aud;
        claims["azp"] = azp;
        if claims["azp"].is_null() {
            claims.as_object_mut().expect("an object").remove("azp");
        }
        judged(&claims)
    };
    assert!(with(json!(["muster"]), Value::Null).is_ok(), "a list of one is one");
    assert!(with(json!(["project", "muster"]), json!("muster")).is_ok());
    assert_refused(with(json!(["muster", "other"]), Value::Null), "no azp", "handed to");
    assert_refused(with(json!(["muster", "other"]), json!("other")), "foreign azp", "handed to");
    assert_refused(with(json!(["muster", {"x": 1}]), Value::Null), "an odd second audience", "handed to");
    assert_refused(with(json!(["other", "third"]), json!("muster")), "azp alone", "another program");
}

#[test]
fn a_minute_of_skew_is_forgiven_and_more_is_named_in_seconds() {
    let sound_at = |claim: &str, at: i64| {
        let mut claims = sound();
        claims[claim] = json!(at);
        judged(&claims).is_ok()
    };
    assert!(sound_at("exp", NOW - 59) && !sound_at("exp", NOW - 60));
    assert!(sound_at("iat", NOW + 60) && !sound_at("iat", NOW + 61));
    assert!(sound_at("nbf", NOW + 60) && !sound_at("nbf", NOW + 61));
    let signer = signer();
    let mut early = sound();
    early["iat"] = json!(NOW + 200);
    let drifted = Expected { skew_seconds: 200, ..expected() };
    let Err(refused) = verify(&signer.sign(&early), &signer.jwk, &drifted) else { panic!("it passed") };
    assert_eq!(refused, SignInError::ClockSkew { seconds: 200 });
    assert!(refused.to_string().contains("200 seconds"));
}

#[test]
fn a_refreshed_token_repeats_the_first_nonce_or_has_none() {
    let signer = signer();
    let refreshed = |nonce: Option<&str>, first: Nonce<'_>| {
        let mut claims = sound();
        match nonce {
            Some(nonce) => claims["nonce"] = json!(nonce),
            None => drop(claims.as_object_mut().expect("an object").remove("nonce")),
        }
        verify(&signer.sign(&claims), &signer.jwk, &Expected { nonce: first, ..expected() })
    };
    assert!(refreshed(Some("n1"), Nonce::Repeats(Some("n1"))).is_ok());
    assert!(refreshed(None, Nonce::Repeats(Some("n1"))).is_ok());
    assert!(refreshed(Some("n9"), Nonce::Unknown).is_ok());
    assert_refused(refreshed(Some("n9"), Nonce::Repeats(Some("n1"))), "another nonce", "another attempt");
    assert_refused(refreshed(Some("n9"), Nonce::Repeats(None)), "a nonce from nowhere", "another attempt");
}

#[test]
fn no_refusal_repeats_the_token() {
    let signer = signer();
    let mut claims = sound();
    claims["aud"] = json!("CANARY");
    let token = signer.sign(&claims);
    let Err(refused) = verify(&token, &signer.jwk, &expected()) else { panic!("it passed") };
    let said = format!("{refused} {refused:?} {}", refused.hint());
    assert!(!said.contains("CANARY") && !said.contains(&token[..20]), "{said}");
}
