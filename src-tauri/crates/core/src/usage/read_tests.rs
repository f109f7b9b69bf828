//! Sources behind a scripted API server.

use serde_json::json;

use super::*;
use crate::clock::SystemClock;
use crate::connect::scripted::{Network, Seen, Step, client_of, json as answer, reply};

const DCGM: &str = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",pod=\"train\",namespace=\"research\"} 3\n";

fn service(name: &str, namespace: &str, port: u16) -> serde_json::Value {
    json!({"metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"name": "metrics", "port": port, "targetPort": "metrics"}]}})
}

fn exporter_pod(name: &str, node: &str, phase: &str) -> serde_json::Value {
    json!({"metadata": {"name": name, "namespace": "gpu-operator"}, "status": {"phase": phase},
        "spec": {"nodeName": node, "containers": [{"ports": [{"name": "metrics", "containerPort": 9400}]}]}})
}

fn cluster(seen: &Seen) -> Vec<Step> {
    let (path, query) = seen.line.split_once('?').unwrap_or((&seen.line, ""));
    let dcgm = service("nvidia-dcgm-exporter", "gpu-operator", 9400);
    let prometheus = service("prometheus-operated", "monitoring", 9090);
    match path {
        "GET /api/v1/services" => {
            let items = [dcgm, service("grafana", "monitoring", 9090), prometheus];
            answer(200, &json!({"kind": "ServiceList", "items": items}).to_string())
        }
        "GET /api/v1/namespaces/gpu-operator/services/nvidia-dcgm-exporter" => answer(200, &dcgm.to_string()),
        "GET /api/v1/namespaces/monitoring/services/prometheus-operated" => {
            answer(200, &prometheus.to_string())
        }
        "GET /api/v1/namespaces/monitoring/services/grafana" => {
            answer(200, &service("grafana", "monitoring", 9090).to_string())
        }
        "GET /api/v1/namespaces/gpu-operator/pods" => {
            assert!(query.contains("labelSelector=app%3Dnvidia-dcgm-exporter"), "{query}");
            let items = [
                exporter_pod("e-1", "node-1", "Running"),
                exporter_pod("e-2", "node-2", "Running"),
                exporter_pod("e-3", "node-3", "Pending"),
            ];
            answer(200, &json!({"kind": "PodList", "items": items}).to_string())
        }
        "GET /api/v1/namespaces/gpu-operator/pods/e-1:9400/proxy/metrics" => {
            reply(200, "content-type: text/plain; version=0.0.4\r\n", DCGM.as_bytes())
        }
        "GET /api/v1/namespaces/gpu-operator/pods/e-2:9400/proxy/metrics" => {
            reply(401, "content-type: text/plain\r\n", b"Unauthorized")
        }
        "GET /api/v1/namespaces/monitoring/services/prometheus-operated:9090/proxy/api/v1/query" => {
            let value = |metric: serde_json::Value| json!({"status": "success", "data": {"resultType": "vector", "result": [{"metric": metric, "value": [1, "9"]}]}});
            let card = json!({"UUID": "GPU-a", "Hostname": "node-1", "exported_pod": "train", "exported_namespace": "research"});
            if query.contains("count+by") {
                answer(200, &value(json!({"__name__": "DCGM_FI_DEV_GPU_UTIL"})).to_string())
            } else {
                answer(200, &value(card).to_string())
            }
        }
        _ => answer(404, r#"{"kind":"Status","message":"not found"}"#),
    }
}

async fn bound(namespaces: &[&str]) -> (Bound, std::sync::Arc<Network>) {
    let (client, network) = client_of(cluster).await;
    (Bound::for_tests(client, namespaces), network)
}

#[tokio::test]
async fn the_sources_of_a_cluster_are_found_prometheus_first() {
    let (bound, _) = bound(&[]).await;
    let found = find_sources(&bound).await.expect("sources");
    let ids: Vec<String> = found.iter().map(|source| source.id.to_string()).collect();
    assert_eq!(ids, ["monitoring/prometheus-operated:9090", "gpu-operator/nvidia-dcgm-exporter:9400"]);
}

#[tokio::test]
async fn each_exporter_is_read_by_its_pod_and_a_node_that_fails_is_named() {
    let (bound, _) = bound(&[]).await;
    let reading =
        read_use(&bound, "gpu-operator/nvidia-dcgm-exporter:9400", &SystemClock).await.expect("a reading");
    assert_eq!((reading.cards.len(), reading.cards[0].node.as_deref()), (1, Some("node-1")));
    let nodes: Vec<(&str, Option<&str>)> =
        reading.nodes.iter().map(|node| (&*node.node, node.error.as_ref().map(ReadError::code))).collect();
    assert_eq!(
        nodes,
        [("node-1", None), ("node-2", Some("rejected")), ("node-3", Some("rejected"))],
        "the 401 of an exporter is not one of the registered credential"
    );
}

#[tokio::test]
async fn prometheus_answers_for_every_node_at_once_with_peaks() {
    let (bound, network) = bound(&[]).await;
    let reading =
        read_use(&bound, "monitoring/prometheus-operated:9090", &SystemClock).await.expect("a reading");
    assert_eq!((reading.cards.len(), reading.peak_minutes), (1, Some(15)));
    assert_eq!(reading.cards[0].peak, Some(9.0));
    assert_eq!(reading.cards[0].node.as_deref(), Some("node-1"));
    assert_eq!(network.seen().len(), 4, "the service, which metrics, now, and the peak");
}

#[tokio::test]
async fn only_a_known_source_is_ever_asked() {
    let (bound, network) = bound(&[]).await;
    for source in
        ["monitoring/grafana:9090", "monitoring/prometheus-operated:9091", "a/../b:1", "kube-system/x"]
    {
        let error = read_use(&bound, source, &SystemClock).await.expect_err("no source");
        assert!(matches!(error.code(), "not_a_use_source"), "{source}: {error}");
    }
    assert!(network.seen().iter().all(|seen| !seen.line.contains("proxy")), "no proxied request was made");
}

#[tokio::test]
async fn a_bounded_registration_is_refused_before_anything_is_dialled() {
    let (bound, network) = bound(&["team-a"]).await;
    assert_eq!(find_sources(&bound).await.expect_err("refused").code(), "cluster_scope_out_of_bound");
    let error =
        read_use(&bound, "monitoring/prometheus-operated:9090", &SystemClock).await.expect_err("refused");
    assert_eq!(error.code(), "cluster_scope_out_of_bound");
    assert!(network.seen().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_exporter_that_stalls_costs_its_five_seconds_and_no_other_node() {
    let (client, _) =
        client_of(
            |seen| {
                if seen.line.contains("e-2:9400/proxy") { vec![Step::Stall] } else { cluster(seen) }
            },
        )
        .await;
    let bound = Bound::for_tests(client, &[]);
    let reading =
        read_use(&bound, "gpu-operator/nvidia-dcgm-exporter:9400", &SystemClock).await.expect("a reading");
    assert_eq!(reading.cards.len(), 1);
    assert_eq!(reading.nodes[1].error.as_ref().map(ReadError::code), Some("timeout"));
}
