//! A provider that is not what the deployment says, or answers what it should not.

use serde_json::json;

use super::desk::{Desk, visit};
use super::served::{Reply, Served};
use crate::signin::SignInError;

async fn refused_with(metadata: serde_json::Value) -> SignInError {
    let desk = Desk::new().await;
    desk.op.state().metadata = metadata;
    desk.sign_in.start();
    let reason = desk.refused().await;
    assert_eq!(desk.browser.opened.lock().expect("it is free").len(), 0, "no browser opens for it");
    reason
}

#[tokio::test]
async fn a_discovery_document_of_another_issuer_is_refused() {
    for issuer in ["https://evil.example", "http://127.0.0.1:1/", ""] {
        let reason = refused_with(json!({"issuer": issuer})).await;
        assert_eq!(reason.code(), "provider_broken", "{issuer}");
        assert!(reason.to_string().contains("calls itself"), "{reason}");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_neither_https_nor_loopback_is_refused() {
    for endpoint in ["authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint"] {
        for url in ["http://id.example/x", "file:///etc/passwd", "https://me:pw@id.example/x", ""] {
            let reason = refused_with(json!({ endpoint: url })).await;
            assert_eq!(reason.code(), "provider_broken", "{endpoint} {url}");
            assert!(!reason.to_string().contains("me:pw"), "{reason}");
        }
    }
}

#[tokio::test]
async fn a_document_that_lacks_what_is_required_is_refused() {
    for missing in ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"] {
        assert_eq!(refused_with(json!({ missing: null })).await.code(), "provider_broken", "{missing}");
    }
}

#[tokio::test]
async fn what_discovery_answers_is_told_apart() {
    for (reply, code, says) in [
        (Reply::Says(404, String::new(), Vec::new()), "provider_broken", "404"),
        (Reply::Says(200, String::new(), b"<html>".to_vec()), "provider_broken", "OpenID Connect"),
        (
            Reply::Says(301, "Location: https://id.example/\r\n".into(), Vec::new()),
            "provider_broken",
            "redirects",
        ),
        (Reply::Says(200, String::new(), vec![b' '; 1024 * 1024 + 1]), "provider_broken", "too large"),
        (Reply::Says(503, String::new(), Vec::new()), "provider_unreachable", "503"),
        (Reply::Closes, "provider_unreachable", "connection"),
    ] {
        let desk = Desk::new().await;
        desk.op.fault("/.well-known/openid-configuration", reply);
        desk.sign_in.start();
        let reason = desk.refused().await;
        assert_eq!(reason.code(), code, "{reason}");
        assert!(reason.to_string().contains(says), "{reason} does not say {says}");
    }
}

#[tokio::test]
async fn a_provider_that_never_answers_is_waited_for_ten_seconds() {
    let desk = Desk::new().await;
    desk.op.fault("/.well-known/openid-configuration", Reply::Hangs);
    desk.sign_in.start();
    while desk.op.asked("/.well-known/openid-configuration") == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    let reason = desk.refused().await;
    assert!(reason.to_string().contains("too long"), "{reason}");
}

#[tokio::test]
async fn a_redirect_of_the_token_endpoint_carries_the_code_nowhere() {
    let (seen, sees) = std::sync::mpsc::channel();
    let elsewhere = Served::new(move |request| {
        let _ = seen.send(request.path.clone());
        Reply::json(200, &json!({}))
    })
    .await;
    for status in [301, 302, 303, 307, 308] {
        let desk = Desk::new().await;
        let location = format!("Location: {}/token\r\n", elsewhere.url);
        desk.op.fault("/token", Reply::Says(status, location, Vec::new()));
        visit(&desk.op.callback(&desk.link().await)).await;
        assert_eq!(desk.refused().await.code(), "provider_broken", "{status}");
    }
    assert!(sees.try_recv().is_err(), "the redirect was followed");
}

#[tokio::test]
async fn a_token_answer_that_is_none_is_refused_without_being_quoted() {
    for body in ["<html>CANARY</html>", "{\"access_token\":\"CANARY\"}", "{\"error\":{\"CANARY\":1}}", ""] {
        for status in [200, 400] {
            let desk = Desk::new().await;
            desk.op.fault("/token", Reply::Says(status, String::new(), body.into()));
            visit(&desk.op.callback(&desk.link().await)).await;
            let reason = desk.refused().await;
            assert_eq!(reason.code(), "provider_broken", "{status} {body}");
            assert!(!format!("{reason} {reason:?}").contains("CANARY"), "{reason:?}");
        }
    }
}
