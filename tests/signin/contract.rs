//! What Muster relies on in a provider, as assertions that run unchanged against a real one and against the demo's, so
//! that the demo cannot drift from the truth.
//!
//! A provider under test knows these people: `ada` of the org orchard, `bo` of harbor, `cyd` of both, in the claim
//! `orgs`; and the public client [`CLIENT_ID`] with loopback redirects of any port.

use muster_core::signin::{SignInState, Storage};

use crate::desk::Desk;
use crate::person::Person;

/// The client that is registered.
pub const CLIENT_ID: &str = "muster-desktop";

/// A running provider.
pub trait ProviderUnderTest: Sync {
    /// Its issuer.
    fn issuer(&self) -> String;
    /// The scopes to ask for, as a TOML list.
    fn scopes(&self) -> &'static str;
}

/// Every test of the contract, for the provider that an async function yields (`None`: it cannot be had).
#[macro_export]
macro_rules! contract_tests {
    ($running:path) => {
        contract_tests! { $running;
            contract: a_person_signs_in_and_stays_signed_in,
            contract: a_session_is_taken_up_again_from_what_was_kept,
            contract: two_processes_share_one_session,
            contract: signing_out_revokes_at_the_provider,
            contract: a_forged_callback_does_not_end_the_attempt,
            contract: somebody_who_cancels_is_told_so,
            contract: a_member_of_several_orgs_chooses_and_changes,
            contract: a_refresh_token_that_was_spent_by_somebody_else_ends_the_session,
            contract_raw: discovery_says_what_is_relied_on,
            contract_raw: callbacks_carry_code_state_and_issuer,
            contract_raw: a_code_works_once_and_its_replay_ends_what_it_gave,
            contract_raw: a_wrong_or_missing_verifier_is_refused,
            contract_raw: an_attempt_without_s256_is_refused,
            contract_raw: another_redirect_is_never_followed,
            contract_raw: a_refresh_token_works_once_and_its_reuse_ends_the_family,
            contract_raw: a_refreshed_id_token_is_of_the_same_person_and_repeats_the_nonce_or_has_none,
            contract_raw: revocation_answers_200_whatever_the_token
        }
    };
    ($running:path; $($module:ident: $name:ident),*) => {
        $(
            #[tokio::test]
            async fn $name() {
                if let Some(provider) = $running().await {
                    $module::$name(provider).await;
                }
            }
        )*
    };
}

pub async fn a_person_signs_in_and_stays_signed_in(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new("ada"));
    let session = desk.signed_in().await;
    assert_eq!(session.tenant().org().as_str(), "orchard");
    assert_eq!((session.tenant().subject(), session.tenant().display_name()), ("ada", "Ada Okafor"));
    assert_eq!(session.tenant().issuer(), provider.issuer());
    assert_eq!(session.storage(), Storage::Keyring);
    let (mut token, mut kept) = (session.current().await.expect("it is fresh"), desk.kept().await);
    for _ in 0..3 {
        desk.pass(290);
        let next = session.current().await.expect("it is refreshed");
        assert_ne!(next, token, "the token is a new one");
        let next_kept = desk.kept().await;
        assert_ne!(next_kept, kept, "the refresh token was rotated");
        (token, kept) = (next, next_kept);
    }
}

pub async fn a_session_is_taken_up_again_from_what_was_kept(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new("bo"));
    desk.signed_in().await;
    let before = desk.kept().await;
    desk.sign_in.resume();
    let SignInState::SignedIn(session) = desk.settled().await else { panic!("nobody is signed in") };
    assert_eq!((session.tenant().subject(), session.tenant().org().as_str()), ("bo", "harbor"));
    assert_ne!(desk.kept().await, before);
}

pub async fn two_processes_share_one_session(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new("ada"));
    let here = desk.signed_in().await;
    let other = desk.other_process(provider);
    other.sign_in.resume();
    let SignInState::SignedIn(there) = other.settled().await else { panic!("nobody is signed in there") };
    for _ in 0..3 {
        desk.pass(290);
        let (a, b) = tokio::join!(here.current(), there.current());
        a.expect("the session goes on here");
        b.expect("the session goes on there");
    }
}

pub async fn signing_out_revokes_at_the_provider(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new("ada"));
    desk.signed_in().await;
    let kept = desk.kept().await.expect("it is kept");
    desk.sign_in.sign_out().await;
    assert_eq!(desk.kept().await, None);
    let raw = crate::contract_raw::Raw::new(provider).await;
    assert_eq!(raw.refresh(&kept).await, Err("invalid_grant".to_owned()));
}

pub async fn a_forged_callback_does_not_end_the_attempt(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new("ada").with_a_forged_callback());
    assert_eq!(desk.signed_in().await.tenant().org().as_str(), "orchard");
}

pub async fn somebody_who_cancels_is_told_so(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new(""));
    let reason = desk.refused().await;
    assert_eq!(reason.code(), "sign_in_refused");
    assert!(reason.to_string().contains("access_denied"), "{reason}");
    assert_eq!(desk.kept().await, None);
}

pub async fn a_member_of_several_orgs_chooses_and_changes(provider: &impl ProviderUnderTest) {
    let desk = Desk::new(provider, Person::new("cyd"));
    desk.sign_in.start();
    let SignInState::ChooseOrg { orgs, .. } = desk.settled().await else { panic!("cyd is not asked") };
    assert_eq!(orgs.iter().map(muster_core::tenant::Org::as_str).collect::<Vec<_>>(), ["orchard", "harbor"]);
    assert!(desk.sign_in.choose_org("acme").await.is_err(), "an org that the token does not carry");
    for org in ["harbor", "orchard"] {
        let session = desk.sign_in.choose_org(org).await.expect("a member");
        assert_eq!(session.tenant().org().as_str(), org);
        desk.pass(290);
        session.current().await.expect("the session goes on");
    }
}

pub async fn a_refresh_token_that_was_spent_by_somebody_else_ends_the_session(
    provider: &impl ProviderUnderTest,
) {
    let desk = Desk::new(provider, Person::new("ada"));
    let session = desk.signed_in().await;
    let stolen = desk.kept().await.expect("it is kept");
    let raw = crate::contract_raw::Raw::new(provider).await;
    raw.refresh(&stolen).await.expect("the thief is first");
    desk.pass(290);
    assert_eq!(session.current().await.map_err(|error| error.code()), Err("session_ended"));
    assert_eq!(desk.kept().await, None);
    let SignInState::SignedOut { reason: Some(reason) } = desk.settled().await else {
        panic!("it is not shown")
    };
    assert_eq!(reason.code(), "session_ended");
}
