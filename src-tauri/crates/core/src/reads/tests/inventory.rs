//! The parts of an inventory reading, each with its own outcome.

use super::{failure, list, node, pod};
use crate::clock::SystemClock;
use crate::connect::DraVersion;
use crate::connect::scripted::{Seen, Step, client_of, json};
use crate::reads::{Reading, read_inventory_input};
use crate::registry::Bound;

const VERSION: &str = r#"{"gitVersion":"v1.36.2"}"#;

fn group(versions: &[&str]) -> Vec<Step> {
    let versions: Vec<String> = versions
        .iter()
        .map(|version| format!(r#"{{"groupVersion":"resource.k8s.io/{version}","version":"{version}"}}"#))
        .collect();
    json(200, &format!(r#"{{"kind":"APIGroup","versions":[{}]}}"#, versions.join(",")))
}

fn named(name: &str) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","namespace":"team-a"}},"spec":{{}}}}"#)
}

/// A whole cluster that serves everything.
fn everything(seen: &Seen) -> Vec<Step> {
    let path = seen.line.trim_start_matches("GET ").split('?').next().unwrap_or_default();
    match path {
        "/version" => json(200, VERSION),
        "/api/v1/namespaces/kube-system" => json(200, r#"{"kind":"Namespace","metadata":{"uid":"u-1"}}"#),
        "/api/v1/nodes" => json(200, &list("NodeList", &["n0", "n1"].map(node), None)),
        "/api/v1/pods" => json(200, &list("PodList", &[pod("team-a", "p0")], None)),
        "/apis/resource.k8s.io" => group(&["v1beta1", "v1", "v1alpha3"]),
        "/apis/resource.k8s.io/v1/resourceslices" => {
            json(200, &list("ResourceSliceList", &[named("s")], None))
        }
        "/apis/resource.k8s.io/v1/resourceclaims" => {
            json(200, &list("ResourceClaimList", &[named("c")], None))
        }
        "/apis/resource.k8s.io/v1/deviceclasses" => json(200, &list("DeviceClassList", &[], None)),
        "/apis/resource.k8s.io/v1alpha3/devicetaintrules" => {
            json(200, &list("DeviceTaintRuleList", &[named("r")], None))
        }
        _ => failure(404, "the server could not find the requested resource"),
    }
}

#[tokio::test]
async fn everything_is_read_at_once_with_the_version_that_is_served() {
    let (client, _) = client_of(everything).await;
    let reading = read_inventory_input(&Bound::for_tests(client, &[]), &SystemClock).await;
    assert_eq!(reading.version.ok().map(|version| version.git_version.as_str()), Some("v1.36.2"));
    assert_eq!(reading.cluster_uid.ok().map(AsRef::as_ref), Some("u-1"));
    let nodes = reading.nodes.ok().expect("nodes");
    assert_eq!((nodes.rows.input.len(), nodes.rows.rows.len()), (2, 2));
    assert_eq!(&*nodes.rows.input[1].name, "n1");
    assert_eq!(
        nodes.rows.input[0].allocatable.as_ref().and_then(|a| a.get("nvidia.com/gpu")).and_then(|c| c.units),
        Some(8)
    );
    assert_eq!(reading.pods.rows.len(), 1);
    assert!(reading.pods.is_complete());
    assert_eq!(reading.dra.version, Reading::Ok(DraVersion::V1), "v1 is preferred to v1beta1");
    assert_eq!(reading.dra.slices.ok().map(|listed| listed.rows.len()), Some(1));
    assert_eq!(reading.dra.claims.rows.len(), 1);
    assert_eq!(reading.dra.classes.ok().map(|listed| listed.rows.len()), Some(0), "empty is an answer");
    assert_eq!(reading.dra.taint_rules.ok().map(|listed| listed.rows.len()), Some(1), "found under v1alpha3");
}

#[tokio::test]
async fn absent_forbidden_failed_and_empty_are_four_answers() {
    let (client, _) = client_of(|seen| match seen.line.split('?').next().unwrap_or_default() {
        "GET /api/v1/nodes" => failure(403, "nodes is forbidden"),
        "GET /api/v1/pods" => json(200, &list("PodList", &[], None)),
        "GET /apis/resource.k8s.io" => failure(404, "not found"),
        _ => failure(500, "etcdserver: leader changed"),
    })
    .await;
    let reading = read_inventory_input(&Bound::for_tests(client, &[]), &SystemClock).await;
    assert_eq!(reading.version.code(), "server");
    assert_eq!(reading.nodes, Reading::Forbidden { message: "nodes is forbidden".into() });
    assert!(reading.pods.rows.is_empty() && reading.pods.is_complete(), "no pods at all is a whole answer");
    assert_eq!(reading.dra.version, Reading::Absent);
    assert_eq!(reading.dra.slices.code(), "absent");
    assert_eq!(reading.dra.claims.parts[0].outcome.code(), "absent");
}

#[tokio::test]
async fn a_group_that_may_not_be_discovered_is_forbidden_and_not_absent() {
    let (client, _) = client_of(|seen| {
        if seen.line == "GET /apis/resource.k8s.io" { failure(403, "no discovery") } else { everything(seen) }
    })
    .await;
    let reading = read_inventory_input(&Bound::for_tests(client, &[]), &SystemClock).await;
    assert_eq!(reading.dra.slices.code(), "forbidden");
    assert_eq!(reading.dra.taint_rules.code(), "forbidden");
    assert!(!reading.dra.claims.is_complete());
    assert!(reading.nodes.ok().is_some(), "and costs nothing else");
}

#[tokio::test]
async fn a_group_of_unknown_versions_only_is_absent() {
    let (client, _) = client_of(|seen| {
        if seen.line == "GET /apis/resource.k8s.io" { group(&["v1alpha2", "v9"]) } else { everything(seen) }
    })
    .await;
    let reading = read_inventory_input(&Bound::for_tests(client, &[]), &SystemClock).await;
    assert_eq!(reading.dra.version, Reading::Absent);
}

#[tokio::test]
async fn an_unreachable_cluster_fails_in_every_part_with_the_same_reason() {
    let (client, network) = client_of(everything).await;
    network.refuses("203.0.113.7:6443");
    let reading = read_inventory_input(&Bound::for_tests(client, &[]), &SystemClock).await;
    for code in [
        reading.version.code(),
        reading.nodes.code(),
        reading.pods.parts[0].outcome.code(),
        reading.dra.version.code(),
        reading.dra.slices.code(),
    ] {
        assert_eq!(code, "refused");
    }
    assert!(!reading.pods.is_anything_read());
}
