//! No token, code or proof is in a log at any level, in a shown state or in a debug text.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::desk::{Desk, visit};
use super::served::Reply;
use crate::signin::relying::Tokens;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_in_a_log_at_trace_level() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let desk = Desk::new().await;
    let mut shown = String::new();
    let link = desk.link().await;
    visit(&desk.op.callback(&link)).await;
    let crate::signin::SignInState::SignedIn(session) = desk.settled().await else {
        panic!("nobody is signed in")
    };
    shown += &format!("{session:?} {:?}", session.tenant());
    desk.pass(290);
    session.current().await.expect("it is refreshed");
    let spent = desk.op.state().good_refresh_token();
    let says =
        serde_json::json!({"error": "invalid_request", "error_description": format!("{spent} is no good")});
    for fault in
        [Reply::json(400, &says), Reply::Closes, Reply::Says(200, String::new(), spent.clone().into())]
    {
        desk.op.fault("/token", fault);
        desk.pass(301);
        tokio::time::pause();
        tokio::time::advance(std::time::Duration::from_secs(6)).await;
        tokio::time::resume();
        if let Err(error) = session.current().await {
            shown += &format!("{error} {error:?} {}", error.hint());
        }
    }
    desk.sign_in.sign_out().await;
    drop(guard);
    let text =
        String::from_utf8_lossy(&log.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned() + &shown;
    assert!(text.contains("TRACE"), "the log was written");
    let mut secrets = vec![desk.op.state().canary.clone()];
    for name in ["code_verifier", "code"] {
        secrets.push(desk.op.form("/token", 0)[name].clone());
    }
    for (name, value) in link.query_pairs().filter(|(name, _)| matches!(&**name, "state" | "nonce")) {
        assert!(value.len() > 20, "{name} is long enough to look for");
        secrets.push(value.into_owned());
    }
    for secret in secrets {
        if let Some(at) = text.find(&secret) {
            let from = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            panic!("a secret is in: {}", &text[from..at]);
        }
    }
}

#[test]
fn the_debug_text_of_a_token_answer_hides_its_tokens() {
    let answer = serde_json::json!({
        "access_token": "CANARY-1", "token_type": "Bearer", "refresh_token": "CANARY-2", "id_token": "CANARY-3",
    });
    let tokens: Tokens = serde_json::from_value(answer).expect("it is an answer");
    assert!(!format!("{tokens:?}").contains("CANARY"), "{tokens:?}");
}
