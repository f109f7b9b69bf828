//! One attempt in the browser, from the link to the session, and everything that may go wrong on the way.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::desk::{Desk, NotingBrowser, is_settled, name, until, visit};
use super::served::Reply;
use crate::secrets::SecretError;
use crate::signin::{SignInState, Storage};

#[tokio::test]
async fn a_person_is_signed_in_to_the_org_of_the_token_and_only_the_refresh_token_is_kept() {
    let desk = Desk::new().await;
    let session = desk.signed_in().await;
    assert_eq!(session.tenant().org().as_str(), "orchard");
    assert_eq!((session.tenant().subject(), session.tenant().display_name()), ("ada", "Ada"));
    assert_eq!(session.storage(), Storage::Keyring);
    let refresh_token = desk.op.state().good_refresh_token();
    let only = json!({
        "issuer": desk.op.served.url, "client_id": "muster", "sub": "ada", "refresh_token": refresh_token,
    });
    assert_eq!(desk.kept().await, Some(only));
    assert_eq!(desk.sign_in.link(), None, "the link of an attempt that is over is not given out");
}

#[tokio::test]
async fn every_attempt_has_its_own_state_nonce_and_s256_proof() {
    let desk = Desk::new().await;
    let queries: Vec<HashMap<String, String>> = [desk.link().await, desk.link().await]
        .iter()
        .map(|link| link.query_pairs().into_owned().collect())
        .collect();
    for query in &queries {
        assert_eq!(query["response_type"], "code");
        assert_eq!(query["code_challenge_method"], "S256");
        assert_eq!(query["scope"], "openid profile email offline_access");
        assert_eq!(query["prompt"], "consent");
        assert!(query["redirect_uri"].starts_with("http://127.0.0.1:"), "{}", query["redirect_uri"]);
        assert!(!query.contains_key("client_secret"));
    }
    for fresh in ["state", "nonce", "code_challenge"] {
        assert_ne!(queries[0][fresh], queries[1][fresh], "{fresh} was used twice");
        assert!(queries[0][fresh].len() >= 43, "{fresh} can be guessed");
    }
}

#[tokio::test]
async fn the_code_is_exchanged_with_the_proof_and_the_very_redirect_of_the_attempt() {
    let desk = Desk::new().await;
    let link = desk.link().await;
    let asked: HashMap<String, String> = link.query_pairs().into_owned().collect();
    visit(&desk.op.callback(&link)).await;
    desk.settled().await;
    let form = desk.op.form("/token", 0);
    assert_eq!(form["redirect_uri"], asked["redirect_uri"]);
    assert_eq!(form["client_id"], "muster");
    assert_eq!(URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"])), asked["code_challenge"]);
    assert!(!form.contains_key("client_secret"));
}

#[tokio::test]
async fn a_callback_of_another_attempt_is_told_and_does_not_end_this_one() {
    let desk = Desk::new().await;
    let link = desk.link().await;
    let good = desk.op.callback(&link);
    let mut forged = good.clone();
    forged.query_pairs_mut().clear().extend_pairs([
        ("code", "evil"),
        ("state", "guessed"),
        ("iss", &desk.op.served.url),
    ]);
    assert!(visit(&forged).await.starts_with("HTTP/1.1 400"));
    let told = desk.until(|state| matches!(state, SignInState::Waiting { note: Some(_), .. })).await;
    assert!(matches!(told, SignInState::Waiting { note: Some(note), .. } if note.contains("older attempt")));
    assert_eq!(desk.op.asked("/token"), 0, "a forged code is never exchanged");
    visit(&good).await;
    assert!(matches!(desk.settled().await, SignInState::SignedIn(_)));
}

#[tokio::test]
async fn the_persons_or_the_providers_no_ends_the_attempt_in_its_own_words() {
    let desk = Desk::new().await;
    let link = desk.link().await;
    let mut refused = desk.op.callback(&link);
    let state = refused.query_pairs().find(|(key, _)| key == "state").expect("a state").1.into_owned();
    refused.query_pairs_mut().clear().extend_pairs([
        ("error", "access_denied"),
        ("error_description", "Ada said\r\nno\u{202e}"),
        ("state", &state),
        ("iss", &desk.op.served.url),
    ]);
    assert!(visit(&refused).await.contains("You are not signed in"));
    let reason = desk.refused().await;
    assert_eq!(reason.code(), "sign_in_refused");
    assert_eq!(reason.to_string(), "The identity provider refused the sign-in: access_denied (Ada saidno)");
}

#[tokio::test]
async fn a_callback_from_another_provider_or_without_the_promised_issuer_is_not_trusted() {
    for issuer in [Some("https://evil.example"), None] {
        let desk = Desk::new().await;
        let link = desk.link().await;
        let good = desk.op.callback(&link);
        let pairs: Vec<(String, String)> =
            good.query_pairs().into_owned().filter(|(key, _)| key != "iss").collect();
        let mut mixed_up = good.clone();
        mixed_up.query_pairs_mut().clear().extend_pairs(pairs);
        if let Some(issuer) = issuer {
            mixed_up.query_pairs_mut().append_pair("iss", issuer);
        }
        visit(&mixed_up).await;
        assert_eq!(desk.refused().await.code(), "sign_in_untrusted", "{issuer:?}");
        assert_eq!(desk.op.asked("/token"), 0, "the code of a mix-up is never exchanged");
    }
}

#[tokio::test]
async fn a_person_who_never_comes_back_is_waited_for_five_minutes() {
    let desk = Desk::new().await;
    desk.link().await;
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    assert_eq!(desk.refused().await.code(), "sign_in_timed_out");
    let lasted = began.elapsed().as_secs();
    assert!((299..=301).contains(&lasted), "it lasted {lasted} s");
}

#[tokio::test]
async fn a_new_attempt_ends_the_older_one() {
    let desk = Desk::new().await;
    let first = desk.op.callback(&desk.link().await);
    let second = desk.op.callback(&desk.link().await);
    let states = [&first, &second]
        .map(|url| url.query_pairs().find(|(key, _)| key == "state").map(|pair| pair.1.into_owned()));
    assert_ne!(states[0], states[1]);
    visit(&first).await;
    assert_eq!(desk.op.asked("/token"), 0, "the older attempt's code is not exchanged");
    visit(&second).await;
    assert!(matches!(desk.settled().await, SignInState::SignedIn(_)));
}

#[tokio::test]
async fn an_attempt_that_is_cancelled_while_the_code_is_exchanged_signs_nobody_in() {
    let desk = Desk::new().await;
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    desk.op.state().gate = Some(std::sync::Arc::clone(&gate));
    let link = desk.link().await;
    visit(&desk.op.callback(&link)).await;
    desk.until(|state| matches!(state, SignInState::Exchanging)).await;
    desk.sign_in.cancel();
    gate.add_permits(5);
    // The next attempt's exchange comes after whatever the cancelled one could still do.
    desk.signed_in().await;
    desk.sign_in.sign_out().await;
    assert_eq!(desk.kept().await, None);
    assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedOut { reason: None }));
}

#[tokio::test]
async fn a_keyring_that_cannot_be_used_is_told_before_the_browser_opens_and_the_session_ends_with_the_app() {
    let desk = Desk::new().await;
    *desk.keyring.probe_fails.lock().expect("it is free") = Some(SecretError::NoStore("no service".into()));
    *desk.keyring.set_fails.lock().expect("it is free") = Some(SecretError::NoStore("no service".into()));
    desk.sign_in.start();
    let told = desk.until(|state| matches!(state, SignInState::Waiting { .. })).await;
    assert!(
        matches!(told, SignInState::Waiting { note: Some(note), .. } if note.contains("keyring")),
        "{}",
        name(&told)
    );
    visit(&desk.op.callback(&desk.sign_in.link().expect("an attempt is under way"))).await;
    let SignInState::SignedIn(session) = desk.settled().await else { panic!("nobody is signed in") };
    assert_eq!(session.storage(), Storage::SessionOnly);
    desk.pass(290);
    assert!(session.current().await.is_ok(), "it is refreshed from memory");
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn a_keyring_that_was_unlocked_meanwhile_is_used_after_all() {
    let desk = Desk::new().await;
    *desk.keyring.probe_fails.lock().expect("it is free") = Some(SecretError::Silent(5));
    assert_eq!(desk.signed_in().await.storage(), Storage::Keyring);
}

#[tokio::test]
async fn a_browser_that_does_not_open_is_told_and_the_link_still_works() {
    let desk = Desk::with("", NotingBrowser { broken: true, ..NotingBrowser::default() }).await;
    desk.sign_in.start();
    let told = desk.until(|state| matches!(state, SignInState::Waiting { note: Some(_), .. })).await;
    assert!(matches!(told, SignInState::Waiting { note: Some(note), .. } if note.contains("Copy the link")));
    assert!(desk.sign_in.open_again().await.is_err());
    visit(&desk.op.callback(&desk.sign_in.link().expect("an attempt is under way"))).await;
    assert!(matches!(desk.settled().await, SignInState::SignedIn(_)));
    assert!(desk.sign_in.open_again().await.is_err(), "there is nothing to open any more");
}

#[tokio::test]
async fn opening_again_opens_the_same_page() {
    let desk = Desk::new().await;
    let link = desk.link().await;
    desk.sign_in.open_again().await.expect("it opens");
    let opened = desk.browser.opened.lock().expect("it is free").clone();
    assert!(opened.iter().all(|url| *url == link), "{opened:?}");
}

#[tokio::test]
async fn of_several_orgs_one_is_chosen_and_only_one_that_the_token_carries() {
    let desk = Desk::new().await;
    desk.op.state().claims = json!({"org": null, "orgs": ["orchard", "harbor"]});
    visit(&desk.op.callback(&desk.link().await)).await;
    let SignInState::ChooseOrg { orgs, person } = desk.settled().await else { panic!("nobody is asked") };
    assert_eq!((orgs.len(), person.as_str()), (2, "Ada"));
    for foreign in ["acme", "HARBOR", "", "*"] {
        let refused = desk.sign_in.choose_org(foreign).await.expect_err("the token does not carry it");
        assert_eq!(refused.code(), "foreign_org", "{foreign:?}");
    }
    let session = desk.sign_in.choose_org("harbor").await.expect("a member");
    assert_eq!(session.tenant().org().as_str(), "harbor");
    let changed = desk.sign_in.choose_org("orchard").await.expect("a member of both");
    assert_eq!(changed.tenant().org().as_str(), "orchard");
    assert!(
        matches!(&*desk.sign_in.state().borrow(), SignInState::SignedIn(now) if std::sync::Arc::ptr_eq(now, &changed))
    );
}

#[tokio::test]
async fn whoever_cancels_the_choice_is_signed_out_again() {
    let desk = Desk::new().await;
    desk.op.state().claims = json!({"orgs": ["orchard", "harbor"]});
    visit(&desk.op.callback(&desk.link().await)).await;
    desk.settled().await;
    assert!(desk.kept().await.is_some());
    desk.sign_in.cancel();
    assert_eq!(desk.sign_in.choose_org("harbor").await.map(|_| ()).map_err(|e| e.code()), Err("signed_out"));
    while desk.op.asked("/revoke") == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn a_person_without_a_usable_org_is_told_and_nothing_is_kept() {
    for (claims, code) in [(json!({"org": null}), "no_org"), (json!({"org": "../x"}), "org_name")] {
        let desk = Desk::new().await;
        desk.op.state().claims = claims;
        visit(&desk.op.callback(&desk.link().await)).await;
        assert_eq!(desk.refused().await.code(), code);
        assert_eq!(desk.kept().await, None);
    }
}

#[tokio::test]
async fn tokens_that_are_not_sound_sign_nobody_in_and_nothing_is_kept() {
    for (claims, answer) in [
        (json!({"nonce": "of another attempt"}), json!({})),
        (json!({"aud": "other"}), json!({})),
        (json!({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}), json!({})),
        (json!({"exp": super::op::NOW - 61}), json!({})),
        (json!({}), json!({"id_token": null})),
        (json!({}), json!({"id_token": "a.b.c"})),
    ] {
        let desk = Desk::new().await;
        desk.op.state().claims = claims.clone();
        desk.op.state().answer = answer.clone();
        visit(&desk.op.callback(&desk.link().await)).await;
        assert_eq!(desk.refused().await.code(), "sign_in_untrusted", "{claims} {answer}");
        assert_eq!(desk.kept().await, None);
    }
}

#[tokio::test]
async fn a_clock_that_is_off_is_named_with_the_seconds_that_the_providers_answers_show() {
    let desk = Desk::new().await;
    desk.op.state().date += 200;
    visit(&desk.op.callback(&desk.link().await)).await;
    let reason = desk.refused().await;
    assert_eq!(reason.code(), "clock_skew");
    assert!(reason.to_string().contains("200 seconds"), "{reason}");
}

#[tokio::test]
async fn a_token_endpoints_refusal_never_repeats_what_was_sent() {
    let desk = Desk::new().await;
    let link = desk.link().await;
    let back = desk.op.callback(&link);
    let code = back.query_pairs().find(|(key, _)| key == "code").expect("a code").1.into_owned();
    let says = json!({"error": "invalid_grant", "error_description": format!("the code {code} is spent")});
    desk.op.fault("/token", Reply::json(400, &says));
    visit(&back).await;
    let reason = desk.refused().await;
    assert!(reason.to_string().contains("invalid_grant"), "{reason}");
    assert!(!format!("{reason} {reason:?}").contains(&code), "{reason:?}");
}

#[tokio::test]
async fn two_windows_of_one_person_in_two_orgs_do_not_disturb_each_other() {
    let desk = Desk::new().await;
    desk.op.state().claims = json!({"org": null, "orgs": ["orchard", "harbor"]});
    visit(&desk.op.callback(&desk.link().await)).await;
    desk.settled().await;
    let here = desk.sign_in.choose_org("orchard").await.expect("a member");
    let other = desk.other_process();
    other.resume();
    until(&other, is_settled).await;
    let there = other.choose_org("harbor").await.expect("a member");
    for _ in 0..3 {
        desk.pass(290);
        here.current().await.expect("the session goes on here");
        there.current().await.expect("the session goes on there");
    }
    assert_eq!((here.tenant().org().as_str(), there.tenant().org().as_str()), ("orchard", "harbor"));
    assert_eq!(desk.op.state().reuses, 0);
}
