//! Bounded registrations: what they read, and what is refused before anything is dialled.

use super::{failure, list, node, pod};
use crate::clock::SystemClock;
use crate::connect::scripted::{Seen, Step, client_of, json};
use crate::reads::{
    NamespacesReading, Reading, read_inventory_input, read_namespaces, read_nodes, read_pods,
};
use crate::registry::{Bound, Refusal};

/// A shared cluster: team-a can be read, team-b cannot, and nodes would be there for whoever asked.
fn shared(seen: &Seen) -> Vec<Step> {
    match seen.line.split('?').next().unwrap_or_default() {
        "GET /api/v1/namespaces/team-a/pods" => {
            json(200, &list("PodList", &[pod("team-a", "p0"), pod("team-a", "p1")], None))
        }
        "GET /api/v1/namespaces/team-b/pods" => failure(403, "pods is forbidden in team-b"),
        "GET /api/v1/nodes" => json(200, &list("NodeList", &[node("secret-node")], None)),
        "GET /version" => json(200, r#"{"gitVersion":"v1.36.2"}"#),
        "GET /apis/resource.k8s.io" => json(200, r#"{"kind":"APIGroup","versions":[{"version":"v1"}]}"#),
        "GET /apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims" => {
            json(200, &list("ResourceClaimList", &[], None))
        }
        "GET /api/v1/namespaces/team-a" => {
            json(200, r#"{"kind":"Namespace","metadata":{"name":"team-a"},"status":{"phase":"Active"}}"#)
        }
        "GET /api/v1/namespaces/team-b" => failure(403, "namespaces is forbidden"),
        _ => failure(404, "not found"),
    }
}

#[tokio::test]
async fn a_bounded_registration_reads_no_nodes_and_nothing_across_the_cluster() {
    let (client, network) = client_of(shared).await;
    let bound = Bound::for_tests(client, &["team-a", "team-b"]);
    let reading = read_inventory_input(&bound, &SystemClock).await;
    assert_eq!(reading.nodes, Reading::OutsideBound);
    assert_eq!(reading.cluster_uid, Reading::OutsideBound);
    assert_eq!(reading.dra.slices, Reading::OutsideBound);
    assert_eq!(reading.dra.classes, Reading::OutsideBound);
    assert_eq!(reading.dra.taint_rules, Reading::OutsideBound);
    assert_eq!(reading.pods.rows.len(), 2);
    assert!(!reading.pods.is_complete(), "a namespace is missing, so no sum over the pods is whole");
    let unread: Vec<_> = reading
        .pods
        .unread()
        .map(|part| (part.namespace.as_ref().map(ToString::to_string), part.outcome.code()))
        .collect();
    assert_eq!(
        unread,
        [(Some("team-b".to_owned()), "forbidden")],
        "one namespace's refusal does not cost the other"
    );
    for seen in network.seen() {
        let path = seen.line.split('?').next().unwrap_or_default().to_owned();
        let allowed = path.contains("/namespaces/team-")
            || path == "GET /version"
            || path == "GET /apis/resource.k8s.io";
        assert!(allowed, "{path} reaches beyond the bound");
    }
}

#[tokio::test]
async fn what_is_outside_the_bound_is_refused_before_anything_is_dialled() {
    let (client, network) = client_of(shared).await;
    let bound = Bound::for_tests(client, &["team-a"]);
    assert_eq!(read_nodes(&bound).await, Err(Refusal::Scope { cluster: "prod".into() }));
    for other in ["team-b", "kube-system", "team-a/../kube-system", "*"] {
        let refused = Refusal::Namespace { cluster: "prod".into(), namespace: other.into() };
        assert_eq!(read_pods(&bound, other).await, Err(refused));
    }
    assert!(network.dialled().is_empty(), "nobody was dialled");
    assert_eq!(read_pods(&bound, "team-a").await.expect("inside").rows.len(), 2);
}

#[tokio::test]
async fn the_whole_bound_is_read_where_no_namespace_is_named() {
    let (client, _) = client_of(shared).await;
    let pods = read_pods(&Bound::for_tests(client, &["team-b", "team-a"]), "").await.expect("the bound");
    let parts: Vec<_> =
        pods.parts.iter().map(|part| part.namespace.as_ref().map(ToString::to_string)).collect();
    assert_eq!(parts, [Some("team-b".to_owned()), Some("team-a".to_owned())], "in the order of the bound");
    assert_eq!(pods.rows.len(), 2);
}

#[tokio::test]
async fn a_whole_cluster_reads_across_it() {
    let (client, network) = client_of(|seen| match seen.line.split('?').next().unwrap_or_default() {
        "GET /api/v1/pods" => json(200, &list("PodList", &[pod("x", "p")], None)),
        "GET /api/v1/nodes" => json(200, &list("NodeList", &[node("n0")], None)),
        "GET /api/v1/namespaces" => json(
            200,
            &list(
                "NamespaceList",
                &[r#"{"metadata":{"name":"x"},"status":{"phase":"Active"}}"#.into()],
                None,
            ),
        ),
        _ => failure(404, "not found"),
    })
    .await;
    let bound = Bound::for_tests(client, &[]);
    assert_eq!(read_pods(&bound, "").await.expect("all").rows.len(), 1);
    let nodes = read_nodes(&bound).await.expect("a whole cluster");
    assert_eq!(nodes.ok().map(|listed| listed.rows.len()), Some(1));
    let namespaces = read_namespaces(&bound).await;
    assert_eq!(namespaces.rows().len(), 1);
    assert_eq!(network.seen().len(), 3);
}

#[tokio::test]
async fn the_namespaces_of_a_bounded_registration_are_its_bound() {
    let (client, _) = client_of(shared).await;
    let reading = read_namespaces(&Bound::for_tests(client, &["team-a", "team-b", "team-gone"])).await;
    let NamespacesReading::Bounded(names) = &reading else { panic!("bounded") };
    let outcomes: Vec<_> = names.iter().map(|(name, outcome)| (name.as_str(), outcome.code())).collect();
    assert_eq!(outcomes, [("team-a", "ok"), ("team-b", "forbidden"), ("team-gone", "absent")]);
    let rows: Vec<_> =
        reading.rows().into_iter().map(|row| (row.name.to_string(), row.phase.map(String::from))).collect();
    assert_eq!(
        rows,
        [("team-a".to_owned(), Some("Active".to_owned())), ("team-b".to_owned(), None)],
        "a namespace that may not be looked at is still there; one that is gone is not"
    );
}
