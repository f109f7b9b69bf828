//! The end of a session by choice.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::desk::{Desk, is_settled, until};
use super::served::Reply;
use crate::signin::{SIGN_OUT_LASTS, SignInError, SignInState};

#[tokio::test]
async fn signing_out_revokes_the_newest_refresh_token_and_forgets_it() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    // Another process has rotated the token since.
    let other = desk.other_process();
    other.resume();
    until(&other, is_settled).await;
    let newest = desk.op.state().good_refresh_token();
    desk.sign_in.sign_out().await;
    let form = desk.op.form("/revoke", 0);
    assert_eq!(form["token"], newest);
    assert_eq!((form["token_type_hint"].as_str(), form["client_id"].as_str()), ("refresh_token", "muster"));
    assert_eq!(desk.kept().await, None);
    assert_eq!(session.current().await, Err(SignInError::SignedOut), "nobody goes on with the old session");
    assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedOut { reason: None }));
}

#[tokio::test]
async fn a_provider_that_does_not_answer_holds_nobody_up() {
    let desk = Desk::new().await;
    desk.signed_in().await;
    desk.op.fault("/revoke", Reply::Hangs);
    let signing_out = tokio::spawn({
        let sign_in = Arc::clone(&desk.sign_in);
        async move { sign_in.sign_out().await }
    });
    while desk.op.asked("/revoke") == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    signing_out.await.expect("no panic");
    assert!(began.elapsed() <= SIGN_OUT_LASTS + std::time::Duration::from_millis(100));
    tokio::time::resume();
    assert_eq!(desk.kept().await, None, "it is forgotten here all the same");
}

#[tokio::test]
async fn a_refresh_under_way_hands_nothing_out_after_signing_out_and_its_token_is_the_one_revoked() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    desk.pass(290);
    let gate = Arc::new(Semaphore::new(0));
    desk.op.state().gate = Some(Arc::clone(&gate));
    let refreshing = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.current().await }
    });
    while desk.op.asked("/token") == 1 {
        tokio::task::yield_now().await;
    }
    let signing_out = tokio::spawn({
        let sign_in = Arc::clone(&desk.sign_in);
        async move { sign_in.sign_out().await }
    });
    desk.until(|state| matches!(state, SignInState::SignedOut { .. })).await;
    tokio::task::yield_now().await;
    gate.add_permits(1);
    signing_out.await.expect("no panic");
    assert_eq!(refreshing.await.expect("no panic"), Err(SignInError::SignedOut));
    assert_eq!(desk.op.form("/revoke", 0)["token"], desk.op.state().good_refresh_token());
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn signing_out_ends_an_attempt_too() {
    let desk = Desk::new().await;
    let link = desk.link().await;
    desk.sign_in.sign_out().await;
    super::desk::visit(&desk.op.callback(&link)).await;
    assert_eq!(desk.op.asked("/token"), 0);
    assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedOut { reason: None }));
}
