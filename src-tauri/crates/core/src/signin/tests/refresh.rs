//! A session that stays fresh: single flight, rotation, faults, and what ends it.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;

use super::desk::{Desk, is_settled, until};
use super::served::Reply;
use super::signed::Signer;
use crate::kms::{IdentityTokens, KmsError};
use crate::secrets::{SecretError, SecretStore as _};
use crate::signin::{SignInError, SignInState, Storage};

const CODE_EXCHANGE: usize = 1;

#[tokio::test]
async fn a_token_is_used_until_it_nears_its_end_and_then_replaced() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    let first = session.current().await.expect("it is fresh");
    desk.pass(224);
    assert_eq!(session.current().await.expect("it lasts"), first);
    assert_eq!(desk.op.asked("/token"), CODE_EXCHANGE);
    desk.pass(2);
    let second = session.current().await.expect("it is refreshed");
    assert_ne!(second, first);
    assert_eq!(*second, desk.op.state().last_access_token());
    let form = desk.op.form("/token", 1);
    assert!(!form.contains_key("scope"), "what was granted is refreshed, and nothing is asked for");
    assert_eq!(desk.kept().await.expect("it is kept")["refresh_token"], desk.op.state().good_refresh_token());
}

#[tokio::test]
async fn twenty_callers_at_once_lead_to_one_refresh() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.pass(290);
    let gate = Arc::new(Semaphore::new(0));
    desk.op.state().gate = Some(Arc::clone(&gate));
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let session = Arc::clone(&session);
        callers.spawn(async move { session.current().await });
    }
    while desk.op.asked("/token") == CODE_EXCHANGE {
        tokio::task::yield_now().await;
    }
    gate.add_permits(20);
    let wanted = desk.op.state().last_access_token();
    for token in callers.join_all().await {
        assert_eq!(*token.expect("it is refreshed"), wanted);
    }
    assert_eq!(desk.op.asked("/token"), CODE_EXCHANGE + 1);
}

#[tokio::test]
async fn a_refresh_that_nobody_waits_for_any_more_is_still_finished_and_kept() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.pass(290);
    let gate = Arc::new(Semaphore::new(0));
    desk.op.state().gate = Some(Arc::clone(&gate));
    let caller = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.current().await.map(|_| ()) }
    });
    while desk.op.asked("/token") == CODE_EXCHANGE {
        tokio::task::yield_now().await;
    }
    caller.abort();
    assert!(caller.await.is_err(), "the caller is gone");
    gate.add_permits(1);
    session.current().await.expect("the refresh was finished");
    assert_eq!(desk.op.asked("/token"), CODE_EXCHANGE + 1);
    assert_eq!(desk.op.state().reuses, 0, "a rotated token was lost");
}

#[tokio::test]
async fn two_processes_never_spend_one_refresh_token_twice() {
    let desk = Desk::new().await;
    let here = desk.signed_in().await;
    let other = desk.other_process();
    other.resume();
    let SignInState::SignedIn(there) = until(&other, is_settled).await else {
        panic!("nobody is signed in there")
    };
    for _ in 0..5 {
        desk.pass(290);
        let (a, b) = tokio::join!(here.current(), there.current());
        a.expect("the session goes on here");
        b.expect("the session goes on there");
    }
    assert_eq!(desk.op.state().reuses, 0);
}

#[tokio::test]
async fn a_rotated_token_is_kept_before_what_came_with_it_is_judged() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    // The provider signs with a new key and cannot say which just now.
    let rotated = Signer::new(jsonwebtoken::Algorithm::ES256, "k2");
    desk.op.state().published = vec![json!(rotated.jwk)];
    desk.op.state().signer = rotated;
    desk.op.fault("/jwks", Reply::Closes);
    desk.pass(290);
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(31)).await;
    tokio::time::resume();
    assert!(session.current().await.is_ok(), "ten seconds of the old token are left");
    assert_eq!(desk.kept().await.expect("it is kept")["refresh_token"], desk.op.state().good_refresh_token());
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(31)).await;
    tokio::time::resume();
    desk.pass(20);
    session.current().await.expect("the keys are back");
    assert_eq!(desk.op.state().reuses, 0);
}

#[tokio::test]
async fn invalid_grant_is_final_and_shown_and_forgotten() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.op.fault("/token", Reply::json(400, &json!({"error": "invalid_grant"})));
    desk.pass(290);
    assert_eq!(session.current().await, Err(SignInError::SessionEnded), "though ten seconds were left");
    assert!(matches!(
        desk.settled().await,
        SignInState::SignedOut { reason: Some(SignInError::SessionEnded) }
    ));
    assert_eq!(desk.kept().await, None);
    assert_eq!(session.current().await, Err(SignInError::SessionEnded));
    assert_eq!(desk.op.asked("/token"), CODE_EXCHANGE + 1, "it is never tried again");
    let for_the_kms = IdentityTokens::current(&*session).await;
    assert!(matches!(for_the_kms, Err(KmsError::Unauthenticated { .. })));
}

#[tokio::test]
async fn trouble_with_the_network_keeps_the_session() {
    for fault in [
        Reply::Closes,
        Reply::Says(503, String::new(), b"<html>".to_vec()),
        Reply::Says(502, String::new(), Vec::new()),
        Reply::Says(429, String::new(), Vec::new()),
        Reply::Says(200, String::new(), b"<html>a captive portal</html>".to_vec()),
        Reply::Says(302, "Location: https://portal.example/\r\n".into(), Vec::new()),
        Reply::json(400, &json!({"error": "temporarily_unavailable"})),
    ] {
        let desk = Desk::new().await;
        let session = desk.signed_in().await;
        let first = session.current().await.expect("it is fresh");
        desk.op.fault("/token", fault.clone());
        desk.pass(290);
        assert_eq!(session.current().await.expect("ten seconds are left"), first);
        assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedIn(_)));
        desk.pass(20);
        let refused = session.current().await.expect_err("the old token has ended");
        assert!(!refused.is_final(), "{refused}");
        assert_eq!(
            desk.op.asked("/token"),
            CODE_EXCHANGE + 1,
            "a provider in trouble is not asked again at once"
        );
        tokio::time::pause();
        tokio::time::advance(std::time::Duration::from_secs(6)).await;
        tokio::time::resume();
        session.current().await.expect("the provider is back");
        assert_eq!(desk.op.state().reuses, 0);
    }
}

#[tokio::test]
async fn a_provider_that_is_down_is_unavailable_to_the_kms_client_and_not_a_refusal() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.op.fault("/token", Reply::Closes);
    desk.pass(301);
    assert!(matches!(IdentityTokens::current(&*session).await, Err(KmsError::Unavailable { .. })));
}

#[tokio::test]
async fn somebody_elses_tokens_end_the_session() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.op.state().claims = json!({"sub": "mallory"});
    desk.pass(290);
    assert_eq!(session.current().await, Err(SignInError::ForeignSession));
    assert!(matches!(
        desk.settled().await,
        SignInState::SignedOut { reason: Some(SignInError::ForeignSession) }
    ));
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn a_refreshed_token_of_another_attempt_is_not_trusted() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.op.state().claims = json!({"nonce": "of another attempt"});
    desk.pass(301);
    assert_eq!(session.current().await.map_err(|error| error.code()), Err("sign_in_untrusted"));
}

#[tokio::test]
async fn a_provider_that_sends_no_new_id_token_or_refresh_token_is_fine() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    let kept = desk.kept().await;
    desk.op.state().answer = json!({"id_token": null, "refresh_token": null});
    desk.pass(290);
    assert_eq!(*session.current().await.expect("it is refreshed"), desk.op.state().last_access_token());
    assert_eq!(desk.kept().await, kept, "the old refresh token stays good");
}

#[tokio::test]
async fn a_person_who_left_the_org_gets_no_more_tokens_for_it() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.op.state().claims = json!({"org": "harbor"});
    desk.pass(290);
    assert_eq!(session.current().await, Err(SignInError::ForeignOrg));
}

#[tokio::test]
async fn the_kept_token_of_somebody_else_is_not_spent() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    let account = format!("{}|muster", desk.op.served.url);
    let bo = json!({"issuer": desk.op.served.url, "client_id": "muster", "sub": "bo", "refresh_token": "rt-of-bo"});
    desk.keyring.entries.set(&account, bo.to_string().as_bytes()).await.expect("memory keeps");
    desk.pass(290);
    session.current().await.expect("the session goes on in memory");
    assert_eq!(session.storage(), Storage::SessionOnly, "and says so");
    assert_eq!(desk.kept().await, Some(bo.clone()), "the other person's session is untouched");
    desk.sign_in.sign_out().await;
    assert_eq!(desk.kept().await, Some(bo), "also by signing out");
}

#[tokio::test]
async fn signing_out_in_another_window_ends_the_session_here() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    let account = format!("{}|muster", desk.op.served.url);
    desk.keyring.entries.delete(&account).await.expect("memory forgets");
    desk.pass(290);
    assert_eq!(session.current().await, Err(SignInError::SessionEnded));
    assert_eq!(desk.op.asked("/token"), CODE_EXCHANGE, "a token that was revoked is not presented");
}

#[tokio::test]
async fn a_keyring_that_locks_itself_neither_ends_the_session_nor_spends_an_old_token() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    *desk.keyring.get_fails.lock().expect("it is free") = Some(SecretError::Denied("locked".into()));
    desk.pass(290);
    assert!(session.current().await.is_ok(), "ten seconds are left");
    desk.pass(20);
    assert_eq!(session.current().await.map_err(|error| error.code()), Err("keyring_denied"));
    assert_eq!(desk.op.asked("/token"), CODE_EXCHANGE, "who knows whether another process has rotated it");
    assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedIn(_)));
}

#[tokio::test]
async fn a_keyring_that_fails_to_keep_a_rotated_token_leaves_the_session_in_memory() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    *desk.keyring.set_fails.lock().expect("it is free") = Some(SecretError::Silent(5));
    for _ in 0..2 {
        desk.pass(290);
        session.current().await.expect("the session goes on");
    }
    assert_eq!(session.storage(), Storage::SessionOnly);
    assert_eq!(desk.kept().await, None, "a spent token does not stay behind");
    assert_eq!(desk.op.state().reuses, 0);
}

#[tokio::test]
async fn the_id_token_goes_to_the_kms_where_the_deployment_says_so() {
    let desk = Desk::with_kms("token = \"id\"").await;
    let session = desk.signed_in().await;
    let first = session.current().await.expect("it is fresh");
    assert_eq!(first.split('.').count(), 3, "it is the id token");
    desk.pass(3600 - 70);
    assert_ne!(session.current().await.expect("it is refreshed by its own end"), first);
    desk.op.state().answer = json!({"id_token": null});
    desk.pass(3601);
    assert!(session.current().await.is_err(), "an id token that has ended is not handed out");
}
