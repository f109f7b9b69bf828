//! The main job through the commands, on the demo org: sign in, see the fleet, register by dropping a file, look into
//! a namespace, deregister, sign out.

mod canary;
mod desk;
mod live_use;

use desk::{Desk, row};
use muster_api::ErrorKind;
use muster_api::dto::fleet::{ClusterRequest, DeregisterRequest, ReadingState, ScopeView};
use muster_api::dto::namespace::PodsRequest;
use muster_api::dto::session::{ChooseOrgRequest, SessionView};
use muster_api::dto::staging::{ProbeRequest, RegisterRequest};
use muster_testkit::apiserver::Fault;
use muster_testkit::kms::KmsFault;

fn named(cluster: &str) -> ClusterRequest {
    serde_json::from_value(serde_json::json!({"cluster": cluster})).expect("a request")
}

fn pods(cluster: &str, namespace: Option<&str>) -> PodsRequest {
    serde_json::from_value(serde_json::json!({"cluster": cluster, "namespace": namespace}))
        .expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fleet_shows_every_cluster_with_the_state_of_its_own() {
    let mut desk = Desk::open("ada").await;
    assert!(matches!(desk.sign_in().await, SessionView::SignedIn { org, .. } if org == "orchard"));
    let fleet = desk.read_fleet().await;
    let names: Vec<&str> = fleet.clusters.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["basalt", "commons", "faraway", "lattice", "meridian", "plaza"]);

    let lattice = row(&fleet, "lattice");
    assert_eq!(lattice.state, ReadingState::Fresh, "{:?}", lattice.error);
    assert_eq!((lattice.nodes, lattice.nodes_ready), (Some(12), Some(11)));
    assert_eq!(lattice.units.cards, Some(72));
    assert_eq!(lattice.models.first().map(|model| model.model.as_str()), Some("H100"));

    let meridian = row(&fleet, "meridian");
    assert_eq!(meridian.units.cards, Some(32), "slices of a card are not cards");
    let cut: Vec<&str> =
        meridian.models.iter().filter(|m| m.kind == "mig").map(|m| m.model.as_str()).collect();
    assert!(
        !cut.is_empty() && cut.iter().all(|model| model.contains("g.")),
        "a slice names its profile: {cut:?}"
    );

    assert_eq!(row(&fleet, "basalt").models.first().map(|model| model.vendor.as_str()), Some("amd"));
    assert_eq!(row(&fleet, "plaza").units.cards, Some(0), "a cluster that was read and has none has none");

    let commons = row(&fleet, "commons");
    assert_eq!(commons.units.cards, None, "a bounded registration knows nothing of cards, which is not zero");
    assert_eq!(commons.nodes, None);
    assert!(commons.pods.is_some());

    let faraway = row(&fleet, "faraway");
    assert_eq!(faraway.state, ReadingState::Unreachable);
    assert_eq!(faraway.error.map(|error| error.kind), Some(ErrorKind::Unreachable));

    let unknown: Vec<&str> = fleet.totals.unknown.iter().map(|cluster| cluster.name.as_str()).collect();
    assert_eq!(unknown, ["commons", "faraway"], "totals name what they leave out");
    assert_eq!(fleet.totals.units.cards, Some(72 + 32 + 24));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_kubeconfig_is_judged_previewed_registered_and_deregistered() {
    let mut desk = Desk::open("ada").await;
    desk.sign_in().await;
    desk.read_fleet().await;
    let org = desk.org().await;
    let file = desk.folder.path().join("newcomer.yaml");
    std::fs::write(&file, org.kubeconfig("nobody/newcomer").expect("it runs")).expect("a file");
    desk.app.files_dropped(vec![file]).await;

    let staged = desk.app.staged_list(()).await.expect("signed in");
    let [file] = staged.as_slice() else { panic!("{} files are staged", staged.len()) };
    let context = &file.contexts[0];
    assert!(context.refusals.is_empty(), "{:?}", context.refusals);
    assert_eq!(context.suggested_name, "newcomer");

    let probe =
        ProbeRequest { id: file.id.clone(), context: context.name.clone(), scope: ScopeView::WholeCluster };
    let preview = desk.app.staged_probe(probe).await.expect("it answers");
    assert_eq!(preview.nodes, Some(2));
    assert_eq!(preview.units.cards, Some(8));
    assert!(preview.permissions.iter().all(|permission| permission.allowed == Some(true)));
    assert_eq!(
        org.kms().versions("orgs/orchard/k8s/clusters/newcomer/kubeconfig"),
        0,
        "a look seals nothing"
    );

    let register = RegisterRequest {
        id: file.id.clone(),
        context: context.name.clone(),
        name: "newcomer".into(),
        provider: String::new(),
        scope: ScopeView::WholeCluster,
        default: false,
    };
    let registered = desk.app.staged_register(register.clone()).await.expect("it is registered");
    assert_eq!(registered.provider, "byo");
    let again = desk.app.staged_register(register).await.map(|_| ()).map_err(|error| error.code);
    assert_eq!(again, Err("wiped".into()), "a file that has done its work is wiped");
    assert_eq!(org.kms().versions("orgs/orchard/k8s/clusters/newcomer/kubeconfig"), 1);
    desk.fleet(|fleet| fleet.clusters.iter().any(|c| c.name == "newcomer" && c.state == ReadingState::Fresh))
        .await;

    let cluster = desk.app.cluster_get(named("newcomer")).await.expect("it is registered");
    let nodes = cluster.nodes.expect("they were read");
    assert_eq!(nodes[0].pools[0].model.as_deref(), Some("L40S"));
    assert_eq!(nodes[0].holders[0].namespace, "inference");
    let namespaces = desk.app.namespaces_list(named("newcomer")).await.expect("it answers");
    assert!(namespaces.namespaces.iter().any(|namespace| namespace.name == "inference"));
    let list = desk.app.pods_list(pods("newcomer", Some("inference"))).await.expect("it answers");
    assert_eq!(list.pods.len(), 2);
    assert_eq!(list.pods[0].accelerators, ["nvidia.com/gpu × 1"]);

    let wrong = DeregisterRequest { cluster: "newcomer".into(), typed_name: "newcome".into() };
    assert_eq!(
        desk.app.cluster_deregister(wrong).await.map_err(|error| error.code),
        Err("typed_name".into())
    );
    let right = DeregisterRequest { cluster: "newcomer".into(), typed_name: "newcomer".into() };
    let done = desk.app.cluster_deregister(right).await.expect("it is gone");
    assert!(done.was_registered && done.purged);
    assert_eq!(
        org.kms().versions("orgs/orchard/k8s/clusters/newcomer/kubeconfig"),
        0,
        "every version is destroyed"
    );
    let gone = desk.app.pods_list(pods("newcomer", None)).await.map_err(|error| error.kind);
    assert_eq!(gone.err(), Some(ErrorKind::Absent));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_orgs_cluster_of_the_same_name_is_another_cluster() {
    let mut desk = Desk::open("cyd").await;
    assert!(matches!(desk.sign_in().await, SessionView::ChooseOrg { .. }));
    let choose = |org: &str| ChooseOrgRequest { org: org.into() };
    assert_eq!(
        desk.app.org_choose(choose("acme")).await.map_err(|error| error.code),
        Err("foreign_org".into())
    );
    desk.app.org_choose(choose("harbor")).await.expect("a member");
    let fleet = desk.read_fleet().await;
    assert_eq!(fleet.clusters.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["lattice"]);
    assert_eq!(row(&fleet, "lattice").units.cards, Some(4), "harbor's own lattice");
    let foreign = desk.app.pods_list(pods("meridian", None)).await.err().map(|error| error.message);
    let absent = desk.app.pods_list(pods("no-such", None)).await.err().map(|error| error.message);
    assert_eq!(
        foreign.map(|text| text.replace("meridian", "X")),
        absent.map(|text| text.replace("no-such", "X")),
        "another org's cluster is not found, in the same words"
    );
    desk.app.org_choose(choose("orchard")).await.expect("a member");
    let fleet = desk.fleet(|fleet| fleet.org == "orchard" && fleet.clusters.len() == 6).await;
    assert_eq!(fleet.org, "orchard");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bounded_registration_reads_its_namespaces_and_nothing_else() {
    let mut desk = Desk::open("ada").await;
    desk.sign_in().await;
    desk.read_fleet().await;
    let namespaces = desk.app.namespaces_list(named("commons")).await.expect("its bound");
    assert_eq!(
        namespaces.namespaces.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
        ["orchard-ci", "orchard-dev"]
    );
    let all = desk.app.pods_list(pods("commons", None)).await.expect("its bound");
    assert!(all.pods.iter().all(|pod| pod.namespace.starts_with("orchard-")) && !all.pods.is_empty());
    let outside = desk.app.pods_list(pods("commons", Some("somebody-else"))).await.err();
    assert_eq!(
        outside.map(|error| (error.code, error.kind)),
        Some(("namespace_out_of_bound".into(), ErrorKind::Refused))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_stops_answering_keeps_its_last_reading_and_says_why_it_is_old() {
    let mut desk = Desk::open("ada").await;
    desk.sign_in().await;
    let before = row(&desk.read_fleet().await, "lattice");
    let org = desk.org().await;
    for (fault, kind) in [
        (Fault::Status(500), ErrorKind::Unreachable),
        (Fault::Html, ErrorKind::Failed),
        (Fault::Redirect("https://evil.example/".into()), ErrorKind::Failed),
        (Fault::Status(401), ErrorKind::Forbidden),
    ] {
        org.cluster("orchard/lattice").expect("it runs").set_fault(fault.clone());
        let stale = desk.read_again("lattice").await;
        assert_eq!(stale.state, ReadingState::Stale, "{fault:?}");
        assert_eq!(stale.units, before.units, "{fault:?} must not turn numbers into zeros");
        assert_eq!(stale.observed_at, before.observed_at);
        assert_eq!(stale.error.map(|error| error.kind), Some(kind), "{fault:?}");
    }
    org.cluster("orchard/lattice").expect("it runs").set_fault(Fault::None);
    assert_eq!(desk.read_again("lattice").await.state, ReadingState::Fresh);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kms_that_is_sealed_is_not_an_empty_fleet() {
    let mut desk = Desk::open("ada").await;
    desk.sign_in().await;
    desk.read_fleet().await;
    desk.org().await.set_kms_fault(KmsFault::Sealed);
    let request = serde_json::from_value(serde_json::json!({"cluster": null})).expect("a request");
    let fleet = desk.app.fleet_refresh(request).await.expect("the older rows are there");
    assert_eq!(fleet.clusters.len(), 6);
    assert_eq!(fleet.index_error.map(|error| error.code), Some("kms_sealed".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_leaves_nothing_to_ask() {
    let mut desk = Desk::open("ada").await;
    desk.sign_in().await;
    desk.read_fleet().await;
    let view = desk.app.sign_out(()).await.expect("always");
    assert_eq!(view, SessionView::SignedOut { reason: None });
    assert_eq!(desk.app.fleet_get(()).await.map_err(|error| error.kind), Err(ErrorKind::SignedOut));
    assert_eq!(
        desk.app.cluster_get(named("lattice")).await.map_err(|error| error.kind),
        Err(ErrorKind::SignedOut)
    );
}
