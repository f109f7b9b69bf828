//! Live use through the commands, on each kind of source that the demo org has.

use muster_api::ErrorKind;
use muster_api::dto::usage::{LiveUse, LiveUseRequest};

use crate::desk::Desk;

fn request(cluster: &str, source: &str) -> LiveUseRequest {
    serde_json::from_value(serde_json::json!({"cluster": cluster, "source": source})).expect("a request")
}

async fn signed_in() -> Desk {
    let mut desk = Desk::open("ada").await;
    desk.sign_in().await;
    desk.read_fleet().await;
    desk
}

async fn read(desk: &Desk, cluster: &str, source: &str) -> LiveUse {
    desk.app.live_use_get(request(cluster, source)).await.expect("it answers")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_names_what_measures_it() {
    let desk = signed_in().await;
    for (cluster, kinds) in [
        ("lattice", &["prometheus", "dcgm-exporter"][..]),
        ("meridian", &["prometheus"]),
        ("basalt", &["amd-exporter"]),
        ("plaza", &[]),
    ] {
        let found = desk.app.live_use_sources(super::named(cluster)).await.expect("it answers");
        let found: Vec<&str> = found.sources.iter().map(|source| source.kind.as_str()).collect();
        assert_eq!(found, kinds, "{cluster}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exporters_and_prometheus_of_one_cluster_tell_the_same_of_its_cards() {
    let desk = signed_in().await;
    let exporters = read(&desk, "lattice", "gpu-operator/nvidia-dcgm-exporter:9400").await;
    let prometheus = read(&desk, "lattice", "monitoring/kube-prometheus-stack-prometheus:9090").await;
    assert_eq!((exporters.nodes_read, exporters.nodes_total), (Some(8), Some(9)));
    assert_eq!(
        exporters.unread[0].node, "gpu-b04",
        "the node whose kubelet is silent is named, not left out"
    );
    assert_eq!((exporters.totals.cards, prometheus.totals.cards), (64, 72));
    assert_eq!((prometheus.nodes_read, prometheus.peak_minutes), (None, Some(15)));
    let of = |use_: &LiveUse| {
        let mut cards: Vec<_> = use_
            .cards
            .iter()
            .filter(|card| card.node.as_deref() != Some("gpu-b04"))
            .map(|card| (card.id.clone(), card.holders.clone(), card.busy.map(f64::round), card.xid))
            .collect();
        cards.sort_by(|a, b| a.0.cmp(&b.0));
        cards
    };
    assert_eq!(of(&exporters), of(&prometheus));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_notebook_is_held_and_idle_and_a_free_card_is_not() {
    let desk = signed_in().await;
    let lattice = read(&desk, "lattice", "gpu-operator/nvidia-dcgm-exporter:9400").await;
    let idle: Vec<&str> = lattice
        .cards
        .iter()
        .filter(|card| card.idle == Some(true))
        .map(|card| card.holders[0].pod.as_str())
        .collect();
    assert_eq!(idle.len(), 3, "{idle:?}");
    assert_eq!(idle.iter().filter(|pod| **pod == "notebook-mira-0").count(), 2);
    assert_eq!(lattice.totals.idle, 3);
    let free = lattice.cards.iter().find(|card| card.holders.is_empty()).expect("a free card");
    assert_ne!(free.idle, Some(true));
    assert!(lattice.totals.faulty >= 1, "the XID of the card that failed stands out");
}

#[tokio::test(flavor = "multi_thread")]
async fn mig_instances_and_amd_cards_are_measured_too() {
    let desk = signed_in().await;
    let meridian = read(&desk, "meridian", "monitoring/kube-prometheus-stack-prometheus:9090").await;
    assert!(
        meridian
            .cards
            .iter()
            .any(|card| card.instance.as_deref() == Some("3g.40gb #1") && card.busy > Some(50.0))
    );
    let basalt = read(&desk, "basalt", "kube-amd-gpu/default-metrics-exporter:5000").await;
    assert_eq!((basalt.nodes_read, basalt.totals.cards), (Some(3), 24));
    assert!(basalt.cards.iter().all(|card| card.memory_total_mib == Some(196_592.0) && card.xid.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_source_of_this_cluster_is_not_asked() {
    let desk = signed_in().await;
    let told = desk.app.live_use_get(request("lattice", "kube-system/kubernetes:443")).await.err();
    assert!(told.is_some_and(|error| matches!(error.kind, ErrorKind::Refused | ErrorKind::Absent)));
    let told = desk.app.live_use_sources(super::named("commons")).await.err().map(|error| error.code);
    assert_eq!(told.as_deref(), Some("cluster_scope_out_of_bound"));
    let told = desk.app.live_use_get(request("meridian2", "a/b:1")).await.err().map(|error| error.kind);
    assert_eq!(told, Some(ErrorKind::Absent));
}
