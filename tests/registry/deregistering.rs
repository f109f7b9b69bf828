//! Deregistering, and purges that are finished later.

use muster_core::kms::KmsError;
use muster_core::kms::memory::{Fault, MemoryStore, Verb};
use muster_core::registry::Deregistered;
use serde_json::json;

use crate::support::{Desk, json, registration};

fn down() -> KmsError {
    KmsError::Unavailable { why: "it did not answer in time".into(), retry_after: None }
}

fn denied() -> KmsError {
    KmsError::Forbidden { what: "purge it".into() }
}

#[tokio::test(start_paused = true)]
async fn a_deregistered_cluster_is_gone_with_every_version_of_its_credential() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    desk.register(&registration("prod", "t-two")).await.unwrap();
    assert_eq!(store.versions(&desk.credential_ref("prod")).len(), 2, "the KMS keeps versions");
    assert_eq!(desk.registry.deregister(&desk.tenant, " prod ").await, Ok(Deregistered::Removed));
    assert_eq!(store.versions(&desk.credential_ref("prod")), Vec::<Vec<u8>>::new());
    assert_eq!(desk.names().await, Vec::<String>::new());
    assert_eq!(desk.registry.get(&desk.tenant, "prod").await.unwrap_err().code(), "no_cluster");
    assert_eq!(json(&store.newest(&desk.purge_ref()).unwrap()), json!([]));
}

#[tokio::test(start_paused = true)]
async fn deregistering_what_is_not_there_changes_nothing() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    for absent in ["prod", "", "..", "Prod", "a/b"] {
        assert_eq!(
            desk.registry.deregister(&desk.tenant, absent).await,
            Ok(Deregistered::WasAbsent),
            "{absent:?}"
        );
    }
    desk.register(&registration("prod", "t")).await.unwrap();
    desk.registry.deregister(&desk.tenant, "prod").await.unwrap();
    let before = store.calls().len();
    assert_eq!(
        desk.registry.deregister(&desk.tenant, "prod").await,
        Ok(Deregistered::WasAbsent),
        "twice is once"
    );
    assert!(store.calls()[before..].iter().all(|(verb, _)| *verb == Verb::Get), "nothing is written");
}

#[tokio::test(start_paused = true)]
async fn a_purge_that_fails_stays_pending_and_is_finished_by_a_retry() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    for _ in 0..2 {
        store.fail_next(Verb::Purge, &desk.credential_ref("prod"), Fault::Refuse(denied()));
    }
    let error = desk.registry.deregister(&desk.tenant, "prod").await.unwrap_err();
    assert_eq!(error.code(), "kms_forbidden");
    assert_eq!(desk.names().await, Vec::<String>::new(), "the row is gone");
    assert_eq!(desk.pending().await, ["prod"], "and what is left is in sight");

    let outcome = desk.registry.retry_purges(&desk.tenant).await.unwrap();
    assert_eq!(outcome.failed.len(), 1, "the second purge was denied too");
    assert_eq!(desk.pending().await, ["prod"]);

    let outcome = desk.registry.retry_purges(&desk.tenant).await.unwrap();
    assert_eq!(outcome.purged, [crate::support::name("prod")]);
    assert_eq!(desk.pending().await, Vec::<String>::new());
    assert_eq!(store.newest(&desk.credential_ref("prod")), None);
}

#[tokio::test(start_paused = true)]
async fn deregistering_again_finishes_a_purge_that_failed() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t")).await.unwrap();
    store.fail_next(Verb::Purge, &desk.credential_ref("prod"), Fault::Refuse(down()));
    assert!(desk.registry.deregister(&desk.tenant, "prod").await.is_err());
    assert_eq!(desk.registry.deregister(&desk.tenant, "prod").await, Ok(Deregistered::Removed));
    assert_eq!(store.newest(&desk.credential_ref("prod")), None);
    assert_eq!(desk.pending().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_deregistration_killed_after_the_row_went_is_finished_by_somebody_else() {
    let store = MemoryStore::new();
    let (killed, other) = (Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2));
    killed.register(&registration("prod", "t")).await.unwrap();
    let pause = muster_core::kms::memory::Pause::new();
    store.fail_next(Verb::Purge, &killed.credential_ref("prod"), Fault::Wait(pause.clone()));
    let registry = killed.registry.clone();
    let tenant = killed.tenant.clone();
    let task = tokio::spawn(async move { registry.deregister(&tenant, "prod").await });
    pause.reached().await;
    task.abort();
    assert!(store.newest(&other.credential_ref("prod")).is_some(), "the credential is still there");
    assert_eq!(other.pending().await, Vec::<String>::new(), "it may still be going on");
    other.clock.advance(120);
    assert_eq!(other.pending().await, ["prod"]);
    assert_eq!(other.registry.retry_purges(&other.tenant).await.unwrap().purged.len(), 1);
    assert_eq!(store.newest(&other.credential_ref("prod")), None);
}

#[tokio::test(start_paused = true)]
async fn a_pending_purge_never_touches_a_cluster_that_was_registered_again() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    store.fail_next(Verb::Purge, &desk.credential_ref("prod"), Fault::Refuse(denied()));
    assert!(desk.registry.deregister(&desk.tenant, "prod").await.is_err());
    desk.register(&registration("prod", "t-two")).await.unwrap();
    let outcome = desk.registry.retry_purges(&desk.tenant).await.unwrap();
    assert!(outcome.purged.is_empty() && outcome.failed.is_empty(), "{outcome:?}");
    assert!(store.newest(&desk.credential_ref("prod")).is_some());
    assert_eq!(desk.names().await, ["prod"]);
}

#[tokio::test(start_paused = true)]
async fn a_purge_that_may_still_arrive_keeps_the_name_from_being_registered_over_it() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    store.fail_next(Verb::Purge, &desk.credential_ref("prod"), Fault::Late(down()));
    assert!(desk.registry.deregister(&desk.tenant, "prod").await.is_err());
    assert_eq!(desk.register(&registration("prod", "t-two")).await.unwrap_err().code(), "cluster_busy");
    store.deliver_late();
    desk.clock.advance(120);
    desk.register(&registration("prod", "t-two")).await.unwrap();
    assert!(store.newest(&desk.credential_ref("prod")).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_seal_that_arrives_after_it_was_given_up_is_purged() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    store.fail_next(Verb::Put, &desk.credential_ref("prod"), Fault::Late(down()));
    assert_eq!(desk.register(&registration("prod", "t")).await.unwrap_err().code(), "kms_unavailable");
    assert_eq!(
        desk.registry.deregister(&desk.tenant, "prod").await,
        Ok(Deregistered::WasAbsent),
        "so far it is"
    );
    store.deliver_late();
    assert!(store.newest(&desk.credential_ref("prod")).is_some(), "a credential without a row");
    desk.clock.advance(120);
    assert_eq!(desk.pending().await, ["prod"], "is in sight");
    desk.registry.retry_purges(&desk.tenant).await.unwrap();
    assert_eq!(store.newest(&desk.credential_ref("prod")), None);
    assert_eq!(desk.pending().await, Vec::<String>::new());
}
