//! Reaching a cluster: fresh records, kept clients.

use muster_core::kms::memory::{Fault, MemoryStore, Pause, Verb};
use muster_core::kms::{KmsError, SecretRef};
use muster_core::registry::{NamespaceScope, Refusal, RegistryError};

use crate::support::{Desk, bounded, kubeconfig_text, name, registration};

#[tokio::test(start_paused = true)]
async fn a_client_is_made_once_and_kept() {
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    let before = desk.net.dialled().len();
    for _ in 0..3 {
        let bound = desk.registry.reach(&desk.tenant, " prod ").await.unwrap();
        assert_eq!(bound.record().name, name("prod"));
    }
    assert_eq!(desk.net.dialled().len(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn twenty_callers_at_once_make_one_client() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    let (before, asked_before) = (desk.net.dialled().len(), store.calls().len());
    let pause = Pause::new();
    desk.net.pause_next(&pause);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
            tokio::spawn(async move { registry.reach(&tenant, "prod").await.map(|_| ()) })
        })
        .collect();
    pause.reached().await;
    pause.resume();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(()));
    }
    assert_eq!(desk.net.dialled().len(), before + 1);
    let asked = store.calls().split_off(asked_before);
    let reads = asked.iter().filter(|(verb, at)| *verb == Verb::Get && at.ends_with("/kubeconfig")).count();
    assert_eq!(reads, 1, "and the credential is read once");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_does_not_take_the_others_with_it() {
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    let pause = Pause::new();
    desk.net.pause_next(&pause);
    let reach = || {
        let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
        tokio::spawn(async move { registry.reach(&tenant, "prod").await.map(|_| ()) })
    };
    let first = reach();
    pause.reached().await;
    let second = reach();
    tokio::task::yield_now().await;
    first.abort();
    assert_eq!(second.await.unwrap(), Ok(()), "the next in line makes the client");
}

#[tokio::test(start_paused = true)]
async fn a_rotated_credential_is_used_from_the_next_reach_on_whoever_rotated_it() {
    let store = MemoryStore::new();
    let (mine, theirs) = (Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2));
    mine.register(&registration("prod", "t-one")).await.unwrap();
    mine.registry.reach(&mine.tenant, "prod").await.unwrap();
    mine.register(&registration("prod", "t-two")).await.unwrap();
    mine.registry.reach(&mine.tenant, "prod").await.unwrap();
    assert_eq!(mine.net.dialled().last().unwrap(), "t-two", "rotated here");
    theirs.register(&registration("prod", "t-three")).await.unwrap();
    mine.registry.reach(&mine.tenant, "prod").await.unwrap();
    assert_eq!(mine.net.dialled().last().unwrap(), "t-three", "rotated by a colleague in the same second");
}

#[tokio::test(start_paused = true)]
async fn a_reach_that_races_a_rotation_never_leaves_the_old_client_behind() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    let pause = Pause::new();
    desk.net.pause_next(&pause);
    let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
    let slow = tokio::spawn(async move { registry.reach(&tenant, "prod").await.map(|_| ()) });
    // The slow caller holds the old credential while it is rotated.
    pause.reached().await;
    desk.register(&registration("prod", "t-two")).await.unwrap();
    pause.resume();
    assert_eq!(slow.await.unwrap(), Ok(()));
    desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    assert_eq!(desk.net.dialled().last().unwrap(), "t-two");
}

#[tokio::test(start_paused = true)]
async fn a_bound_tightened_by_a_colleague_holds_from_the_next_call_on_with_the_client_kept() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    assert_eq!(desk.registry.reach(&desk.tenant, "prod").await.unwrap().scope(""), Ok(NamespaceScope::All));
    let dialled = desk.net.dialled().len();
    // The row is edited in place, as the original service would.
    let mut index = crate::support::json(&store.newest(&desk.index_ref()).unwrap());
    index[0]["namespaces"] = serde_json::json!(["team-a"]);
    store.plant(&desk.index_ref(), index.to_string().as_bytes());
    let bound = desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    assert_eq!(bound.whole_cluster(), Err(Refusal::Scope { cluster: "prod".into() }));
    assert!(bound.scope("kube-system").is_err());
    assert_eq!(desk.net.dialled().len(), dialled);
}

#[tokio::test(start_paused = true)]
async fn a_client_dropped_after_a_401_is_made_anew_from_the_credential_of_now() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    let bound = desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    store.plant(&desk.credential_ref("prod"), kubeconfig_text("prod", "t-two").as_bytes());
    desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    assert_eq!(desk.net.dialled().last().unwrap(), "t-one", "nothing told of the change");
    desk.registry.drop_client(&bound);
    desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    assert_eq!(desk.net.dialled().last().unwrap(), "t-two");
}

#[tokio::test(start_paused = true)]
async fn a_row_without_a_credential_says_so() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    // The original service destroys by writing nothing over it.
    store.plant(&desk.credential_ref("prod"), b"");
    let gone = RegistryError::CredentialGone { cluster: name("prod") };
    assert_eq!(desk.registry.reach(&desk.tenant, "prod").await.unwrap_err(), gone);
    let other = Desk::new(&store, "acme", 2);
    store.plant(&other.index_ref(), br#"[{"name":"never-sealed"}]"#);
    let error = other.registry.reach(&other.tenant, "never-sealed").await.unwrap_err();
    assert_eq!(error.code(), "credential_gone");
}

#[tokio::test(start_paused = true)]
async fn a_sealed_kubeconfig_that_the_gate_refuses_is_not_dialled() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    store.plant(&desk.index_ref(), br#"[{"name":"prod"}]"#);
    let exec =
        kubeconfig_text("prod", "t").replace("token: 't'", "exec: {apiVersion: v1, command: canary-cmd}");
    store.plant(&desk.credential_ref("prod"), exec.as_bytes());
    let error = desk.registry.reach(&desk.tenant, "prod").await.unwrap_err();
    assert_eq!(error.code(), "credential_refused");
    assert_eq!(desk.net.dialled(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_kms_that_denies_the_credential_is_not_a_cluster_that_is_not_found() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    let denied = KmsError::Forbidden { what: "read it".into() };
    store.fail_next(Verb::Get, &desk.credential_ref("prod"), Fault::Refuse(denied));
    assert_eq!(desk.registry.reach(&desk.tenant, "prod").await.unwrap_err().code(), "kms_forbidden");
}

#[tokio::test(start_paused = true)]
async fn a_credential_older_than_its_row_is_waited_out_or_told_and_never_used() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    desk.register(&registration("prod", "t-two")).await.unwrap();
    let at = desk.credential_ref("prod");
    store.fail_next(Verb::Get, &at, Fault::Lag);
    desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    assert_eq!(desk.net.dialled().last().unwrap(), "t-two", "the lag was waited out");

    desk.register(&registration("prod", "t-three")).await.unwrap();
    for _ in 0..5 {
        store.fail_next(Verb::Get, &at, Fault::Lag);
    }
    assert_eq!(desk.registry.reach(&desk.tenant, "prod").await.unwrap_err().code(), "kms_behind");
    assert_eq!(desk.net.dialled().last().unwrap(), "t-three", "that was the registration's own proof");
}

#[tokio::test(start_paused = true)]
async fn after_closing_nobody_is_signed_in_and_no_client_is_left() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    let pause = Pause::new();
    desk.net.pause_next(&pause);
    let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
    let under_way = tokio::spawn(async move { registry.reach(&tenant, "prod").await.map(|_| ()) });
    pause.reached().await;
    desk.registry.close().await;
    pause.resume();
    let signed_out = RegistryError::Refused(Refusal::NoTenant);
    assert_eq!(
        under_way.await.unwrap(),
        Err(signed_out.clone()),
        "what arrives after signing out is refused"
    );
    assert_eq!(desk.registry.list(&desk.tenant).await, Err(signed_out.clone()));
    assert_eq!(desk.registry.reach(&desk.tenant, "prod").await.unwrap_err(), signed_out);
    assert_eq!(desk.register(&registration("x", "t")).await.unwrap_err(), signed_out);
    assert_eq!(desk.registry.deregister(&desk.tenant, "prod").await, Err(signed_out.clone()));
    assert_eq!(desk.registry.pending_purges(&desk.tenant).await, Err(signed_out.clone()));
    assert_eq!(desk.registry.retry_purges(&desk.tenant).await.unwrap_err(), signed_out);
    let preview = desk.registry.preview(&desk.tenant, &registration("x", "t")).await;
    assert_eq!(preview.unwrap_err(), signed_out);
    use muster_core::kms::Kms as _;
    let kms = desk.kms.get(&SecretRef::index(desk.tenant.org())).await;
    assert_eq!(kms.err(), Some(KmsError::Closed), "the KMS session ended with it");
}

#[tokio::test(start_paused = true)]
async fn a_preview_seals_and_keeps_nothing() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let bound = desk.registry.preview(&desk.tenant, &bounded("shared", "t", &["a"])).await.unwrap();
    assert_eq!(bound.record().name, name("shared"));
    assert!(bound.whole_cluster().is_err(), "the bound holds before it is registered");
    assert_eq!(store.paths(), Vec::<String>::new());
    assert_eq!(desk.registry.reach(&desk.tenant, "shared").await.unwrap_err().code(), "no_cluster");
}
