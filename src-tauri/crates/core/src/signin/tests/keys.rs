//! A provider's keys: rotation, floods of unknown ids, outages, and keys that sign nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::json;

use super::op::{NOW, Op};
use super::served::Reply;
use super::signed::Signer;
use crate::clock::Clock;
use crate::deployment::Deployment;
use crate::signin::SignInError;
use crate::signin::http::Http;
use crate::signin::provider::{KEYS_LAST, Provider, REFETCH_AT_MOST_EVERY};

async fn provider(op: &Op) -> Provider {
    let text = format!(
        "title = \"x\"\nissuer = \"{}\"\nclient_id = \"muster\"\n[kms]\nkind = \"vault\"\nurl = \"https://kms.example\"\n",
        op.served.url
    );
    let deployment = Deployment::parse("x", &text).expect("it is good");
    let now = AtomicI64::new(NOW);
    let clock: Arc<dyn Clock> =
        Arc::new(move || jiff::Timestamp::from_second(now.load(Ordering::SeqCst)).expect("a time"));
    let http = Http::new("x", None, clock).expect("a client");
    Provider::discover(http, &deployment).await.expect("it is sound")
}

/// Lets tokio's time pass and run on.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn another(op: &Op, kid: &str) {
    let signer = Signer::new(jsonwebtoken::Algorithm::ES256, kid);
    op.state().published = vec![json!(signer.jwk)];
}

#[tokio::test]
async fn a_flood_of_unknown_key_ids_asks_the_provider_once_in_thirty_seconds() {
    let op = Op::start().await;
    let provider = provider(&op).await;
    assert!(provider.key(Some("k1")).await.is_ok());
    for n in 0..200 {
        let refused = provider.key(Some(&format!("unknown-{n}"))).await;
        assert!(matches!(refused, Err(SignInError::Untrusted { .. })));
    }
    assert_eq!(op.asked("/jwks"), 1);
    assert!(provider.key(Some("k1")).await.is_ok(), "the flood does not lock the good key out");
    pass(REFETCH_AT_MOST_EVERY).await;
    for n in 0..200 {
        assert!(provider.key(Some(&format!("unknown-{n}"))).await.is_err());
    }
    assert_eq!(op.asked("/jwks"), 2);
}

#[tokio::test]
async fn a_key_that_the_provider_added_is_found_by_one_more_look() {
    let op = Op::start().await;
    let provider = provider(&op).await;
    provider.key(Some("k1")).await.expect("it is published");
    another(&op, "k2");
    pass(REFETCH_AT_MOST_EVERY).await;
    provider.key(Some("k2")).await.expect("it is published now");
    assert_eq!(op.asked("/jwks"), 2);
}

#[tokio::test]
async fn a_key_that_the_provider_withdrew_is_not_trusted_for_ever() {
    let op = Op::start().await;
    let provider = provider(&op).await;
    provider.key(Some("k1")).await.expect("it is published");
    another(&op, "k2");
    pass(KEYS_LAST).await;
    assert!(matches!(provider.key(Some("k1")).await, Err(SignInError::Untrusted { .. })));
}

#[tokio::test]
async fn keys_that_could_not_be_fetched_are_an_outage_and_no_distrust() {
    let op = Op::start().await;
    let provider = provider(&op).await;
    op.fault("/jwks", Reply::Closes);
    for _ in 0..3 {
        let refused = provider.key(Some("k1")).await;
        assert!(matches!(refused, Err(SignInError::ProviderUnreachable { .. })));
    }
    assert_eq!(op.asked("/jwks"), 1, "a provider in trouble is not hammered");
    pass(REFETCH_AT_MOST_EVERY).await;
    provider.key(Some("k1")).await.expect("the provider is back");
}

#[tokio::test]
async fn a_key_of_an_unknown_kind_does_not_hide_the_others_and_one_for_encryption_signs_nothing() {
    let op = Op::start().await;
    let good = op.state().published[0].clone();
    let mut encrypts = good.clone();
    encrypts["kid"] = json!("e1");
    encrypts["use"] = json!("enc");
    op.state().published = vec![json!({"kty": "lattice", "kid": "q1"}), json!("nonsense"), encrypts, good];
    let provider = provider(&op).await;
    provider.key(Some("k1")).await.expect("it is published");
    assert!(provider.key(Some("e1")).await.is_err());
}

#[tokio::test]
async fn a_token_without_a_key_id_is_of_the_only_key_or_of_none() {
    let op = Op::start().await;
    provider(&op).await.key(None).await.expect("there is one key");
    let second = Signer::new(jsonwebtoken::Algorithm::ES256, "k2");
    op.state().published.push(json!(second.jwk));
    assert!(provider(&op).await.key(None).await.is_err(), "which one is meant?");
}
