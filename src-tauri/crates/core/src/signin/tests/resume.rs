//! Taking up the session that the keyring holds.

use serde_json::json;

use super::desk::{Desk, is_settled, until};
use super::served::Reply;
use crate::secrets::{SecretError, SecretStore as _};
use crate::signin::{SignInError, SignInState, Storage};

#[tokio::test]
async fn a_kept_session_is_taken_up_without_a_browser() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    let opened = desk.browser.opened.lock().expect("it is free").len();
    let next_start = desk.other_process();
    next_start.resume();
    let SignInState::SignedIn(session) = until(&next_start, is_settled).await else {
        panic!("nobody is signed in")
    };
    assert_eq!((session.tenant().subject(), session.tenant().org().as_str()), ("ada", "orchard"));
    assert_eq!(session.storage(), Storage::Keyring);
    assert_eq!(desk.browser.opened.lock().expect("it is free").len(), opened);
    assert_eq!(desk.kept().await.expect("it is kept")["refresh_token"], desk.op.state().good_refresh_token());
}

#[tokio::test]
async fn without_a_kept_session_nobody_is_asked_anything() {
    let desk = Desk::new().await;
    desk.sign_in.resume();
    desk.until(|state| matches!(state, SignInState::SignedOut { reason: None })).await;
    assert_eq!(desk.op.asked("/.well-known/openid-configuration"), 0);
}

#[tokio::test]
async fn an_entry_of_another_issuer_client_or_program_is_none() {
    let desk = Desk::new().await;
    let account = format!("{}|muster", desk.op.served.url);
    let issuer = desk.op.served.url.clone();
    for entry in [
        json!({"issuer": "https://evil.example", "client_id": "muster", "sub": "a", "refresh_token": "r"})
            .to_string(),
        json!({"issuer": issuer, "client_id": "other", "sub": "a", "refresh_token": "r"}).to_string(),
        json!({"issuer": issuer, "client_id": "muster", "sub": "", "refresh_token": "r"}).to_string(),
        json!({"issuer": issuer, "client_id": "muster", "sub": "a", "refresh_token": ""}).to_string(),
        json!({"issuer": issuer, "client_id": "muster", "refresh_token": "r"}).to_string(),
        "not JSON".to_owned(),
        String::new(),
    ] {
        desk.keyring.entries.set(&account, entry.as_bytes()).await.expect("memory keeps");
        desk.sign_in.resume();
        desk.until(|state| matches!(state, SignInState::SignedOut { reason: None })).await;
        assert_eq!(desk.op.asked("/token"), 0, "{entry}");
    }
}

#[tokio::test]
async fn a_session_that_ended_at_the_provider_is_forgotten_and_told() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    desk.op.fault("/token", Reply::json(400, &json!({"error": "invalid_grant"})));
    desk.sign_in.resume();
    assert_eq!(desk.refused().await, SignInError::SessionEnded);
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn a_provider_out_of_reach_leaves_the_session_kept() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    for path in ["/.well-known/openid-configuration", "/token", "/jwks"] {
        desk.op.fault(path, Reply::Closes);
        desk.sign_in.resume();
        let reason = desk.refused().await;
        assert_eq!(reason.code(), "provider_unreachable", "{path}");
        assert!(reason.retryable());
        assert_eq!(
            desk.kept().await.expect("it is kept")["refresh_token"],
            desk.op.state().good_refresh_token()
        );
    }
    desk.sign_in.resume();
    assert!(matches!(desk.settled().await, SignInState::SignedIn(_)));
    assert_eq!(desk.op.state().reuses, 0);
}

#[tokio::test]
async fn a_kept_session_that_turns_out_to_be_somebody_elses_is_forgotten() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    desk.op.state().claims = json!({"sub": "mallory"});
    desk.sign_in.resume();
    assert_eq!(desk.refused().await, SignInError::ForeignSession);
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn a_locked_keyring_is_told_and_is_not_an_absent_session() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    *desk.keyring.get_fails.lock().expect("it is free") = Some(SecretError::Denied("locked".into()));
    desk.sign_in.resume();
    assert_eq!(desk.refused().await.code(), "keyring_denied");
    assert!(desk.kept().await.is_some());
}

#[tokio::test]
async fn a_resume_that_is_cancelled_half_way_loses_no_rotated_token() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    desk.op.state().gate = Some(std::sync::Arc::clone(&gate));
    let before = desk.op.asked("/token");
    desk.sign_in.resume();
    while desk.op.asked("/token") == before {
        tokio::task::yield_now().await;
    }
    desk.sign_in.cancel();
    assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedOut { reason: None }));
    gate.add_permits(5);
    // The lock is waited for, and with it the end of what was cancelled.
    desk.sign_in.resume();
    assert!(matches!(desk.settled().await, SignInState::SignedIn(_)));
    assert_eq!(desk.op.state().reuses, 0);
}
