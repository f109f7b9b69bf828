//! From the other tenant's side.

use std::sync::Arc;

use muster_core::kms::memory::MemoryStore;
use muster_core::registry::{Deregistered, Registry};
use muster_core::tenant::Tenant;

use crate::support::{Desk, HandClock, Net, Seeded, org, registration};

#[tokio::test(start_paused = true)]
async fn another_orgs_cluster_is_not_found_in_the_very_words_of_one_that_does_not_exist() {
    let store = MemoryStore::new();
    let (acme, zoo) = (Desk::new(&store, "acme", 1), Desk::new(&store, "zoo", 2));
    acme.register(&registration("prod", "acme-token")).await.unwrap();
    for call in [
        zoo.registry.get(&zoo.tenant, "prod").await.err(),
        zoo.registry.reach(&zoo.tenant, "prod").await.err(),
    ] {
        let foreign = call.unwrap();
        let absent = zoo.registry.get(&zoo.tenant, "nope").await.unwrap_err();
        assert_eq!(foreign.code(), absent.code());
        assert_eq!(foreign.to_string().replace("prod", "nope"), absent.to_string());
        assert_eq!(foreign.hint(), absent.hint());
    }
    assert_eq!(zoo.names().await, Vec::<String>::new());
    assert_eq!(zoo.registry.deregister(&zoo.tenant, "prod").await, Ok(Deregistered::WasAbsent));
    assert_eq!(zoo.net.dialled(), Vec::<String>::new());
    assert_eq!(acme.names().await, ["prod"], "and it is still there for its owner");
}

#[tokio::test(start_paused = true)]
async fn two_orgs_have_clusters_of_one_name_that_have_nothing_to_do_with_each_other() {
    let store = MemoryStore::new();
    let (acme, zoo) = (Desk::new(&store, "acme", 1), Desk::new(&store, "zoo", 2));
    acme.register(&registration("prod", "acme-token")).await.unwrap();
    zoo.register(&registration("prod", "zoo-token")).await.unwrap();
    acme.registry.reach(&acme.tenant, "prod").await.unwrap();
    zoo.registry.reach(&zoo.tenant, "prod").await.unwrap();
    assert_eq!(acme.net.dialled().last().unwrap(), "acme-token");
    assert_eq!(zoo.net.dialled().last().unwrap(), "zoo-token");
    zoo.registry.deregister(&zoo.tenant, "prod").await.unwrap();
    acme.registry.reach(&acme.tenant, "prod").await.unwrap();
    assert!(store.newest(&acme.credential_ref("prod")).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_row_that_claims_another_org_reaches_its_own_orgs_material_only() {
    let store = MemoryStore::new();
    let (acme, zoo) = (Desk::new(&store, "acme", 1), Desk::new(&store, "zoo", 2));
    zoo.register(&registration("prod", "zoo-token")).await.unwrap();
    // A member of acme plants a row that claims zoo's cluster, with every field that might name its material.
    store.plant(
        &acme.index_ref(),
        br#"[{"name":"prod","org":"zoo","ref":"orgs/zoo/k8s/clusters/prod/kubeconfig","kubeconfig":"orgs/zoo"}]"#,
    );
    assert_eq!(acme.registry.get(&acme.tenant, "prod").await.unwrap().org, org("acme"));
    let error = acme.registry.reach(&acme.tenant, "prod").await.unwrap_err();
    assert_eq!(error.code(), "credential_gone", "acme never sealed one");
    assert_eq!(acme.net.dialled(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_copied_index_of_another_org_reaches_nothing_of_that_org() {
    let store = MemoryStore::new();
    let (acme, zoo) = (Desk::new(&store, "acme", 1), Desk::new(&store, "zoo", 2));
    zoo.register(&registration("prod", "zoo-token")).await.unwrap();
    store.plant(&acme.index_ref(), &store.newest(&zoo.index_ref()).unwrap());
    assert_eq!(acme.registry.reach(&acme.tenant, "prod").await.unwrap_err().code(), "credential_gone");
}

#[tokio::test(start_paused = true)]
async fn a_name_that_would_be_a_path_is_not_found_and_asks_the_kms_for_nothing_but_the_index() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    for name in ["../../zoo/k8s/clusters/prod", "prod/kubeconfig", "..", "", "a b", "PROD", "prod\0"] {
        let error = desk.registry.reach(&desk.tenant, name).await.unwrap_err();
        assert_eq!(error.code(), "no_cluster", "{name:?}");
    }
    assert!(store.calls().iter().all(|(_, at)| at == "orgs/acme/k8s/clusters"), "{:?}", store.calls());
}

#[tokio::test(start_paused = true)]
async fn a_kms_session_of_one_org_serves_no_tenant_of_another() {
    let store = MemoryStore::new();
    let zoo = Desk::new(&store, "zoo", 2);
    zoo.register(&registration("prod", "zoo-token")).await.unwrap();
    let registry: Registry<Net> = Registry::new(
        store.session(&org("acme")),
        Net::default(),
        Arc::new(HandClock::default()),
        Arc::new(Seeded::new(1)),
    );
    let stranger = Tenant::for_tests(org("zoo"), "somebody");
    assert_eq!(registry.list(&stranger).await.unwrap_err().code(), "kms_wrong_org");
    assert_eq!(registry.reach(&stranger, "prod").await.unwrap_err().code(), "kms_wrong_org");
}
