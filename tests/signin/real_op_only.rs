//! What only the real provider can show: both its signing algorithms, people without an org, pages that never lead back.

use std::sync::Arc;

use muster_core::secrets::MemoryStore;
use muster_core::signin::SignInState;

use crate::contract::ProviderUnderTest as _;
use crate::desk::Desk;
use crate::person::Person;
use crate::real_op::running;

#[tokio::test]
async fn id_tokens_of_both_algorithms_are_verified_with_the_providers_own_keys() {
    let Some(provider) = running().await else { return };
    for client_id in ["muster-desktop", "muster-desktop-es256"] {
        let desk = Desk::with(provider, client_id, Person::new("ada"), Arc::new(MemoryStore::default()));
        let session = desk.signed_in().await;
        assert_eq!(session.tenant().subject(), "ada", "{client_id}");
        desk.pass(290);
        session.current().await.expect("it is refreshed");
    }
}

#[tokio::test]
async fn a_person_without_an_org_is_signed_in_nowhere() {
    let Some(provider) = running().await else { return };
    let desk = Desk::new(provider, Person::new("nia"));
    assert_eq!(desk.refused().await.code(), "no_org");
    assert_eq!(desk.kept().await, None);
}

#[tokio::test]
async fn a_login_that_ends_on_an_error_page_leaves_the_attempt_waiting_until_it_is_cancelled() {
    let Some(provider) = running().await else { return };
    let desk = Desk::new(provider, Person::new("unknown"));
    desk.sign_in.start();
    let mut state = desk.sign_in.state();
    // The guard that comes back is let go at once: it would keep the state from changing.
    assert!(state.wait_for(|state| matches!(state, SignInState::Waiting { .. })).await.is_ok());
    let link = desk.sign_in.link().expect("an attempt is under way");
    let stuck = Person::new("unknown").walk(&link).await.expect_err("there is no way back");
    assert!(stuck.contains("500"), "{stuck}");
    desk.sign_in.cancel();
    assert!(matches!(&*desk.sign_in.state().borrow(), SignInState::SignedOut { reason: None }));
}

#[tokio::test]
async fn a_client_that_the_provider_does_not_know_gets_no_further() {
    let Some(provider) = running().await else { return };
    let desk = Desk::with(provider, "nobody", Person::new("ada"), Arc::new(MemoryStore::default()));
    desk.sign_in.start();
    let mut state = desk.sign_in.state();
    assert!(state.wait_for(|state| matches!(state, SignInState::Waiting { .. })).await.is_ok());
    let link = desk.sign_in.link().expect("an attempt is under way");
    assert!(Person::new("ada").walk(&link).await.is_err_and(|why| why.contains("400")));
    assert!(provider.issuer().starts_with("http://127.0.0.1:"), "and it all stays on this computer");
}
