//! Registering and rotating.

use muster_core::connect::ReadError;
use muster_core::kms::memory::MemoryStore;
use muster_core::kms::{Caps, Cas, PurgeReach};
use muster_core::registry::{Counts, NamespaceBound, RegisterStep, Registration};
use serde_json::json;

use crate::support::{Desk, bounded, forbidden, json, kubeconfig, name, registration};

#[tokio::test(start_paused = true)]
async fn a_registered_cluster_is_sealed_indexed_and_listed() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let record = desk.register(&registration("prod", "t-one")).await.unwrap();
    assert_eq!(record.provider, "byo", "the provider of a registration that names none");
    assert_eq!(record.counts, Some(Counts { nodes: 3, nvidia_gpu: 16, amd_gpu: 8 }));
    assert_eq!(record.registered, "2027-01-15T08:00:00Z");
    assert_eq!(desk.registry.list(&desk.tenant).await.unwrap(), std::slice::from_ref(&record));
    assert_eq!(desk.registry.get(&desk.tenant, " prod ").await.unwrap(), record);
    let sealed = String::from_utf8(store.newest(&desk.credential_ref("prod")).unwrap()).unwrap();
    assert!(sealed.contains("t-one"), "the credential is the kubeconfig text");
    let index = json(&store.newest(&desk.index_ref()).unwrap());
    assert_eq!(index[0]["endpoint"], json!("https://prod.example.com:6443"), "as the source stores it");
    assert!(!index.to_string().contains("t-one"), "no row holds a credential");
    assert_eq!(json(&store.newest(&desk.purge_ref()).unwrap()), json!([]), "nothing is left to do");
}

#[tokio::test(start_paused = true)]
async fn an_org_that_registered_nothing_has_an_empty_list() {
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    assert_eq!(desk.registry.list(&desk.tenant).await, Ok(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn registering_a_name_again_replaces_the_credential_and_the_row() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    desk.clock.advance(60);
    let again = Registration { provider: " eks ".into(), ..registration("prod", "t-two") };
    let record = desk.register(&again).await.unwrap();
    assert_eq!(record.provider, "eks");
    assert_eq!(record.registered, "2027-01-15T08:01:00Z");
    assert_eq!(desk.names().await, ["prod"], "one row");
    let sealed = String::from_utf8(store.newest(&desk.credential_ref("prod")).unwrap()).unwrap();
    assert!(sealed.contains("t-two"));
}

#[tokio::test(start_paused = true)]
async fn the_steps_are_told_as_they_begin() {
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    use RegisterStep::{Checking, Done, Indexing, Probing, Sealing};
    assert_eq!(desk.steps(&registration("prod", "t")).await, [Checking, Probing, Sealing, Indexing, Done]);
    desk.net.fail("down.example.com:6443", forbidden("down"));
    assert_eq!(desk.steps(&registration("down", "t")).await, [Checking, Probing]);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_does_not_prove_itself_leaves_no_trace() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.net.fail(
        "prod.example.com:6443",
        ReadError::Broken { server: "prod.example.com:6443".into(), detail: "reset".into() },
    );
    let error = desk.register(&registration("prod", "t")).await.unwrap_err();
    assert_eq!(error.code(), "connection_broken");
    assert!(error.to_string().contains("prod"), "{error}");
    assert_eq!(store.paths(), Vec::<String>::new(), "nothing is written before the proof");
}

#[tokio::test(start_paused = true)]
async fn a_bounded_registration_is_proven_by_its_namespaces_and_its_counts_are_unknown() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let record = desk.register(&bounded("shared", "t", &["team-a", " team-b", "team-a"])).await.unwrap();
    assert_eq!(record.counts, None);
    assert_eq!(record.bound, NamespaceBound::only(["team-a", "team-b"]).unwrap());
    let asked = desk.net.asked();
    assert!(asked.iter().all(|asked| !asked.ends_with("nodes")), "{asked:?}");
    assert!(asked.iter().any(|asked| asked.ends_with("pods in team-b")), "{asked:?}");
    let index = json(&store.newest(&desk.index_ref()).unwrap());
    assert_eq!(index[0]["nodes"], json!(0), "the stored format has numbers only");
    assert_eq!(index[0]["countsUnknown"], json!(true), "and says beside them that they are none");
    assert_eq!(desk.registry.get(&desk.tenant, "shared").await.unwrap().counts, None);
}

#[tokio::test(start_paused = true)]
async fn a_bound_without_a_namespace_is_refused_before_anything_is_dialled() {
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    let nothing = Registration { bound: NamespaceBound::Only(Vec::new()), ..registration("prod", "t") };
    let error = desk.register(&nothing).await.unwrap_err();
    assert_eq!(error.code(), "blank_namespaces");
    assert_eq!(desk.net.dialled(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_larger_than_the_kms_stores_is_refused_before_anything_is_dialled() {
    let store =
        MemoryStore::with_caps(Caps { max_value: 300, cas: Cas::Native, purge: PurgeReach::AllVersions });
    let desk = Desk::new(&store, "acme", 1);
    let large =
        Registration { kubeconfig: kubeconfig("prod", &"t".repeat(400)), ..registration("prod", "t") };
    let error = desk.register(&large).await.unwrap_err();
    assert_eq!(error.code(), "kms_too_large");
    assert!(error.to_string().contains("300"), "both sizes are told: {error}");
    assert_eq!(desk.net.dialled(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_index_that_would_outgrow_the_kms_is_refused_before_anything_is_dialled() {
    let store =
        MemoryStore::with_caps(Caps { max_value: 550, cas: Cas::Native, purge: PurgeReach::AllVersions });
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("one", "t")).await.unwrap();
    desk.register(&registration("two", "t")).await.unwrap();
    let dialled = desk.net.dialled().len();
    let error = desk.register(&registration("three", "t")).await.unwrap_err();
    assert_eq!(error.code(), "kms_too_large");
    assert_eq!(desk.net.dialled().len(), dialled);
    assert_eq!(store.newest(&desk.credential_ref("three")), None);
    assert_eq!(desk.names().await, ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_that_went_bad_since_it_was_dropped_is_refused_before_anything_is_dialled() {
    // The registration was made under a policy that allows loopback; this registry's does not.
    use muster_core::clock::Clock as _;
    use muster_core::endpoint::EndpointPolicy;
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    let text = crate::support::kubeconfig_text("prod", "t").replace("prod.example.com", "127.0.0.1");
    let now = desk.clock.now();
    let kubeconfig = muster_core::kubeconfig::inspect(text.as_bytes(), EndpointPolicy::Any, now)
        .unwrap()
        .cut("x", now)
        .unwrap();
    let error = desk.register(&Registration { kubeconfig, ..registration("prod", "t") }).await.unwrap_err();
    assert_eq!(error.code(), "address_refused");
    assert_eq!(desk.net.dialled(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn one_cluster_is_the_default_and_the_last_that_asked_is_it() {
    let desk = Desk::new(&MemoryStore::new(), "acme", 1);
    for cluster in ["one", "two"] {
        desk.register(&Registration { default: true, ..registration(cluster, "t") }).await.unwrap();
    }
    desk.register(&registration("three", "t")).await.unwrap();
    let list = desk.registry.list(&desk.tenant).await.unwrap();
    let defaults: Vec<_> =
        list.iter().filter(|record| record.default).map(|record| record.name.clone()).collect();
    assert_eq!(defaults, [name("two")]);
}

#[tokio::test(start_paused = true)]
async fn what_the_original_service_wrote_is_kept_when_a_cluster_is_added() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let theirs = json!([{"name": "old", "org": "acme", "provider": "gke", "endpoint": "https://old:443", "nodes": 9,
        "nvidiaGpu": 1, "amdGpu": 2, "namespaces": ["a"], "registered": "2025-01-01T00:00:00Z", "default": true,
        "theirOwn": {"x": [1, 2]}}]);
    store.plant(&desk.index_ref(), theirs.to_string().as_bytes());
    desk.register(&registration("new", "t")).await.unwrap();
    assert_eq!(json(&store.newest(&desk.index_ref()).unwrap())[0], theirs[0]);
    assert_eq!(desk.names().await, ["old", "new"]);
}
