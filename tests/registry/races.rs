//! Many desktops at once.

use std::sync::Arc;

use muster_core::kms::memory::{Fault, MemoryStore, Pause, Verb};
use serde_json::json;

use crate::support::{Desk, json, registration};

/// What must hold whenever nobody is at work: every credential has a row, every row a credential, nothing is owed.
pub fn assert_consistent(store: &Arc<MemoryStore>, desk: &Desk) {
    let index = store.newest(&desk.index_ref()).map_or(json!([]), |bytes| json(&bytes));
    let mut rows: Vec<String> =
        index.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
    let mut sealed: Vec<String> = store
        .paths()
        .iter()
        .filter_map(|path| {
            path.strip_prefix("orgs/acme/k8s/clusters/")?.strip_suffix("/kubeconfig").map(str::to_owned)
        })
        .collect();
    rows.sort();
    sealed.sort();
    assert_eq!(rows, sealed, "rows and credentials");
    assert_eq!(store.newest(&desk.purge_ref()).map_or(json!([]), |bytes| json(&bytes)), json!([]), "pending");
}

async fn register_twenty(store: &Arc<MemoryStore>) -> usize {
    let desks: Vec<_> = (0..20).map(|seed| Desk::new(store, "acme", seed)).collect();
    let tasks: Vec<_> = desks
        .iter()
        .enumerate()
        .map(|(number, desk)| {
            let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
            let registration = registration(&format!("cluster-{number}"), "t");
            tokio::spawn(async move { registry.register(&tenant, &registration, &|_| ()).await.map(|_| ()) })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(()));
    }
    desks[0].names().await.len()
}

#[tokio::test(start_paused = true)]
async fn twenty_desktops_that_register_at_once_all_have_their_row() {
    let store = MemoryStore::new();
    assert_eq!(register_twenty(&store).await, 20);
    assert_consistent(&store, &Desk::new(&store, "acme", 99));
}

#[tokio::test(start_paused = true)]
async fn one_desktop_that_registers_twenty_at_once_does_not_compete_with_itself() {
    let store = MemoryStore::new();
    let desk = Desk::new(&store, "acme", 1);
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
            let registration = registration(&format!("cluster-{number}"), "t");
            tokio::spawn(async move { registry.register(&tenant, &registration, &|_| ()).await.map(|_| ()) })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(()));
    }
    assert_eq!(store.versions(&desk.index_ref()).len(), 20, "no write was a failed try");
    assert_consistent(&store, &desk);
}

#[tokio::test(start_paused = true)]
async fn two_that_rotate_one_cluster_at_once_leave_a_row_and_a_credential_of_one_registration() {
    let store = MemoryStore::new();
    let desks = [Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2)];
    let tasks: Vec<_> = desks
        .iter()
        .zip(["https://one", "https://two"])
        .map(|(desk, host)| {
            let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
            let host = host.trim_start_matches("https://").to_owned();
            tokio::spawn(async move {
                let mut registration = registration("prod", &host);
                registration.kubeconfig = crate::support::kubeconfig(&host, &host);
                registry.register(&tenant, &registration, &|_| ()).await.map(|_| ())
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(()), "one after the other");
    }
    let row = json(&store.newest(&desks[0].index_ref()).unwrap());
    let sealed = String::from_utf8(store.newest(&desks[0].credential_ref("prod")).unwrap()).unwrap();
    let host = if sealed.contains("one.example.com") { "one" } else { "two" };
    assert_eq!(row[0]["endpoint"], json!(format!("https://{host}.example.com:6443")));
    assert_consistent(&store, &desks[0]);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_somebody_is_working_on_is_busy_and_not_touched() {
    let store = MemoryStore::new();
    let (slow, other) = (Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2));
    let pause = Pause::new();
    store.fail_next(Verb::Put, &slow.credential_ref("prod"), Fault::Wait(pause.clone()));
    let (registry, tenant) = (slow.registry.clone(), slow.tenant.clone());
    let task = tokio::spawn(async move {
        registry.register(&tenant, &registration("prod", "slow"), &|_| ()).await.map(|_| ())
    });
    pause.reached().await;
    assert_eq!(other.register(&registration("prod", "t")).await.unwrap_err().code(), "cluster_busy");
    assert_eq!(other.registry.deregister(&other.tenant, "prod").await.unwrap_err().code(), "cluster_busy");
    assert!(other.registry.retry_purges(&other.tenant).await.unwrap().purged.is_empty());
    pause.resume();
    assert_eq!(task.await.unwrap(), Ok(()));
    assert_consistent(&store, &other);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_overtaken_is_told_and_does_not_report_success() {
    let store = MemoryStore::new();
    let (slow, other) = (Desk::new(&store, "acme", 1), Desk::new(&store, "acme", 2));
    let pause = Pause::new();
    store.fail_next(Verb::Put, &slow.credential_ref("prod"), Fault::Wait(pause.clone()));
    let (registry, tenant) = (slow.registry.clone(), slow.tenant.clone());
    let task = tokio::spawn(async move {
        registry.register(&tenant, &registration("prod", "slow"), &|_| ()).await.map(|_| ())
    });
    pause.reached().await;
    // The slow one's lease runs out, and somebody else registers the same name.
    other.clock.advance(120);
    tokio::time::advance(std::time::Duration::from_secs(120)).await;
    other.register(&registration("prod", "t-two")).await.unwrap();
    pause.resume();
    assert_eq!(task.await.unwrap().unwrap_err().code(), "interrupted");
    assert_eq!(other.names().await, ["prod"]);
    assert_consistent(&store, &other);
}
