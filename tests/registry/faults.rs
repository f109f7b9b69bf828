//! The KMS at its worst: outages, denials, lost answers, lagging replicas.

use muster_core::kms::memory::{Fault, MemoryStore, Pause, Verb};
use muster_core::kms::{Caps, Cas, KmsError, PurgeReach, SecretRef};
use serde_json::json;

use crate::support::{Desk, json, registration};

fn down() -> KmsError {
    KmsError::Unavailable { why: "it did not answer in time".into(), retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_kms_is_an_error_and_never_an_empty_list() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    for (fault, code) in [
        (down(), "kms_unavailable"),
        (KmsError::Sealed, "kms_sealed"),
        (KmsError::Forbidden { what: "read it".into() }, "kms_forbidden"),
        (KmsError::Misconfigured { what: "mount".into() }, "kms_misconfigured"),
    ] {
        store.fail_next(Verb::Get, &desk.index_ref(), Fault::Refuse(fault));
        assert_eq!(desk.registry.list(&desk.tenant).await.unwrap_err().code(), code);
    }
    assert_eq!(desk.names().await, Vec::<String>::new(), "and when it is back it is back");
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_was_lost_is_decided_by_reading_back() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let refs = [desk.purge_ref(), desk.credential_ref("prod"), desk.index_ref()];
    for at in &refs {
        store.fail_next(Verb::Put, at, Fault::LoseAnswer(down()));
    }
    desk.register(&registration("prod", "t")).await.unwrap();
    assert_eq!(desk.names().await, ["prod"], "one row");
    assert_eq!(store.versions(&desk.index_ref()).len(), 1, "written once");
    assert_eq!(store.versions(&desk.credential_ref("prod")).len(), 1, "sealed once");
    for at in [desk.purge_ref(), desk.index_ref()] {
        store.fail_next(Verb::Put, &at, Fault::LoseAnswer(down()));
    }
    desk.registry.deregister(&desk.tenant, "prod").await.unwrap();
    assert_eq!(json(&store.newest(&desk.index_ref()).unwrap()), json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_not_carried_out_is_tried_again() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    store.fail_next(Verb::Put, &desk.index_ref(), Fault::Refuse(down()));
    desk.register(&registration("prod", "t")).await.unwrap();
    assert_eq!(desk.names().await, ["prod"]);
}

#[tokio::test(start_paused = true)]
async fn a_registration_whose_row_cannot_be_written_leaves_no_credential() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let denied = KmsError::Forbidden { what: "write it".into() };
    store.fail_next(Verb::Put, &desk.index_ref(), Fault::Refuse(denied));
    let error = desk.register(&registration("prod", "t")).await.unwrap_err();
    assert_eq!(error.code(), "kms_forbidden");
    assert_eq!(store.newest(&desk.credential_ref("prod")), None, "it was sealed, and is purged");
    assert_eq!(desk.pending().await, Vec::<String>::new());
    desk.register(&registration("prod", "t")).await.unwrap();
    assert_eq!(desk.names().await, ["prod"], "the same call again works");
}

#[tokio::test(start_paused = true)]
async fn a_registration_that_can_neither_be_finished_nor_undone_stays_in_sight() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let denied = || Fault::Refuse(KmsError::Forbidden { what: "do it".into() });
    store.fail_next(Verb::Put, &desk.index_ref(), denied());
    store.fail_next(Verb::Purge, &desk.credential_ref("prod"), denied());
    assert!(desk.register(&registration("prod", "t")).await.is_err());
    assert!(store.newest(&desk.credential_ref("prod")).is_some());
    assert_eq!(desk.pending().await, ["prod"]);
    desk.registry.retry_purges(&desk.tenant).await.unwrap();
    assert_eq!(store.newest(&desk.credential_ref("prod")), None);
}

#[tokio::test(start_paused = true)]
async fn a_failed_rotation_leaves_the_cluster_registered_and_reachable() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("prod", "t-one")).await.unwrap();
    let denied = KmsError::Forbidden { what: "write it".into() };
    store.fail_next(Verb::Put, &desk.credential_ref("prod"), Fault::Refuse(denied));
    assert!(desk.register(&registration("prod", "t-two")).await.is_err());
    assert_eq!(desk.pending().await, Vec::<String>::new());
    desk.registry.reach(&desk.tenant, "prod").await.unwrap();
    assert_eq!(desk.net.dialled().last().unwrap(), "t-one");
}

#[tokio::test(start_paused = true)]
async fn a_registration_killed_at_any_write_leaves_no_credential_without_a_row_or_an_entry() {
    let refs: [fn(&Desk) -> SecretRef; 4] =
        [Desk::purge_ref, |desk| desk.credential_ref("prod"), Desk::index_ref, Desk::purge_ref];
    for (killed_at, at) in refs.iter().enumerate() {
        let store = MemoryStore::new();
        let (killed, other) = (Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2));
        let pause = Pause::new();
        if killed_at == 3 {
            // The second write of the list: the first goes through.
            store.fail_next(Verb::Put, &at(&killed), Fault::LoseAnswer(down()));
        }
        store.fail_next(Verb::Put, &at(&killed), Fault::Wait(pause.clone()));
        let (registry, tenant) = (killed.registry.clone(), killed.tenant.clone());
        let task = tokio::spawn(async move {
            registry.register(&tenant, &registration("prod", "t"), &|_| ()).await.map(|_| ())
        });
        pause.reached().await;
        task.abort();
        other.clock.advance(120);
        let sealed = store.newest(&other.credential_ref("prod")).is_some();
        let registered = !other.names().await.is_empty();
        let pending = !other.pending().await.is_empty();
        assert!(
            !sealed || registered || pending,
            "killed at write {killed_at}: a credential nobody knows of"
        );
        other.registry.retry_purges(&other.tenant).await.unwrap();
        let sealed = store.newest(&other.credential_ref("prod")).is_some();
        assert_eq!(sealed, registered, "killed at write {killed_at}: what is not registered is purged");
        other.register(&registration("prod", "t-two")).await.unwrap();
        assert_eq!(other.names().await, ["prod"], "killed at write {killed_at}: and the name can be used");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lagging_replica_is_waited_out_or_told() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    desk.register(&registration("one", "t")).await.unwrap();
    desk.register(&registration("two", "t")).await.unwrap();
    store.fail_next(Verb::Get, &desk.index_ref(), Fault::Lag);
    assert_eq!(desk.names().await, ["one", "two"], "one's own writes are read");
    for _ in 0..5 {
        store.fail_next(Verb::Get, &desk.index_ref(), Fault::Lag);
    }
    assert_eq!(desk.registry.list(&desk.tenant).await.unwrap_err().code(), "kms_behind");
}

#[tokio::test(start_paused = true)]
async fn others_that_are_always_faster_are_told_after_five_tries() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    for _ in 0..5 {
        store.fail_next(Verb::Put, &desk.index_ref(), Fault::Refuse(KmsError::Conflict { current: None }));
    }
    assert_eq!(desk.register(&registration("prod", "t")).await.unwrap_err().code(), "index_contended");
    let writes =
        store.calls().iter().filter(|(verb, at)| *verb == Verb::Put && at.ends_with("/clusters")).count();
    assert_eq!(
        writes,
        5 + 1,
        "the sixth makes sure that no row is on its way before the credential is purged"
    );
    assert_eq!(store.newest(&desk.credential_ref("prod")), None, "and nothing is left");
}

#[tokio::test(start_paused = true)]
async fn without_compare_and_set_a_row_that_was_overwritten_is_written_again() {
    let caps = Caps { max_value: 4096, cas: Cas::Verify, purge: PurgeReach::AllVersions };
    let store = MemoryStore::with_caps(caps);
    let (mine, theirs) = (Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2));
    let pause = Pause::new();
    // My write is followed by one of somebody who read before it.
    store.fail_next(Verb::Put, &mine.index_ref(), Fault::Wait(pause.clone()));
    let (registry, tenant) = (mine.registry.clone(), mine.tenant.clone());
    let task = tokio::spawn(async move {
        registry.register(&tenant, &registration("mine", "t"), &|_| ()).await.map(|_| ())
    });
    pause.reached().await;
    pause.resume();
    // As soon as the row is written, it is overwritten.
    while store.newest(&theirs.index_ref()).is_none() {
        tokio::task::yield_now().await;
    }
    store.plant(&theirs.index_ref(), br#"[{"name":"theirs"}]"#);
    assert_eq!(task.await.unwrap(), Ok(()));
    let mut names = mine.names().await;
    names.sort();
    assert_eq!(names, ["mine", "theirs"]);
}
