//! The demo's people sign in with the app's own code.

use std::sync::Arc;

use muster_core::clock::SystemClock;
use muster_core::secrets::MemoryStore;
use muster_core::signin::{SignIn, SignInState, Surroundings};
use muster_testkit::{DemoOptions, DemoOrg};

async fn settled(person: &str) -> (DemoOrg, Arc<SignIn>, SignInState, tempfile::TempDir) {
    let options = DemoOptions { person: person.to_owned(), ..DemoOptions::default() };
    let demo = DemoOrg::start(options).await.expect("the demo starts");
    let folder = tempfile::tempdir().expect("a folder");
    let around = Surroundings {
        browser: demo.browser(),
        secrets: Arc::new(MemoryStore::default()),
        clock: Arc::new(SystemClock),
        lock_dir: folder.path().to_owned(),
    };
    let sign_in = SignIn::new(demo.deployment().expect("it is well formed"), around);
    let mut state = sign_in.state();
    sign_in.start();
    let settled = state
        .wait_for(|state| {
            matches!(
                state,
                SignInState::SignedIn(_)
                    | SignInState::ChooseOrg { .. }
                    | SignInState::SignedOut { reason: Some(_) }
            )
        })
        .await
        .expect("the state is kept")
        .clone();
    (demo, sign_in, settled, folder)
}

#[tokio::test]
async fn a_member_of_one_org_is_signed_in_to_it() {
    let (_demo, _sign_in, state, _folder) = settled("ada").await;
    let SignInState::SignedIn(session) = state else { panic!("ada is not signed in") };
    assert_eq!(session.tenant().org().as_str(), "orchard");
    assert_eq!(session.tenant().display_name(), "Ada Okafor");
}

#[tokio::test]
async fn a_member_of_several_orgs_chooses_one_of_them_and_no_other() {
    let (_demo, sign_in, state, _folder) = settled("cyd").await;
    let SignInState::ChooseOrg { orgs, .. } = state else { panic!("cyd is not asked") };
    assert_eq!(orgs.iter().map(|org| org.as_str()).collect::<Vec<_>>(), ["orchard", "harbor"]);
    assert!(sign_in.choose_org("acme").await.is_err(), "an org that the token does not carry");
    let session = sign_in.choose_org("harbor").await.expect("a member");
    assert_eq!(session.tenant().org().as_str(), "harbor");
}

#[tokio::test]
async fn somebody_who_cancels_is_not_signed_in_and_is_told_why() {
    let (_demo, _sign_in, state, _folder) = settled("").await;
    let SignInState::SignedOut { reason: Some(reason) } = state else { panic!("signed in all the same") };
    assert_eq!(reason.code(), "sign_in_refused");
    assert!(reason.to_string().contains("access_denied"), "{reason}");
}
