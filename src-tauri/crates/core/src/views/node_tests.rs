//! Node rows from items as API servers send them.

use serde_json::{Value, json};

use super::*;

fn row(item: &Value) -> NodeRow {
    NodeRow::from_item(item.to_string().as_bytes()).expect("a node")
}

#[test]
fn a_node_is_read_with_everything_that_the_screen_shows() {
    let row = row(&json!({
        "metadata": {
            "name": "gpu-1",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "managedFields": [{"manager": "kubelet"}],
            "labels": {
                "node-role.kubernetes.io/worker": "",
                "node-role.kubernetes.io/control-plane": "",
                "kubernetes.io/role": "gpu",
                "beta.kubernetes.io/instance-type": "old",
                "node.kubernetes.io/instance-type": "p5.48xlarge",
                "failure-domain.beta.kubernetes.io/zone": "old",
                "topology.kubernetes.io/zone": "eu-1a",
                "topology.kubernetes.io/region": "eu-1",
                "feature.node.kubernetes.io/cpu-model.id": "17",
            },
        },
        "spec": {"unschedulable": true, "podCIDR": "10.0.0.0/24"},
        "status": {
            "allocatable": {"cpu": "191450m", "memory": "2097000Mi", "pods": "110", "nvidia.com/gpu": "8"},
            "capacity": {"cpu": "192"},
            "addresses": [
                {"type": "Hostname", "address": "gpu-1"},
                {"type": "InternalIP", "address": "10.1.2.3"},
                {"type": "InternalIP", "address": "fd00::3"},
            ],
            "conditions": [
                {"type": "MemoryPressure", "status": "False", "message": "kubelet has sufficient memory available"},
                {"type": "Ready", "status": "True", "message": "kubelet is posting ready status"},
            ],
            "nodeInfo": {"kubeletVersion": "v1.36.2", "osImage": "x"},
            "images": [{"names": ["a"], "sizeBytes": 1}],
        },
    }));
    assert_eq!(
        row,
        NodeRow {
            name: "gpu-1".into(),
            ready: Some(true),
            schedulable: false,
            roles: ["control-plane".into(), "gpu".into(), "worker".into()].into(),
            version: Some("v1.36.2".into()),
            instance_type: Some("p5.48xlarge".into()),
            region: Some("eu-1".into()),
            zone: Some("eu-1a".into()),
            internal_ip: Some("10.1.2.3".into()),
            cpu_milli: Some(191_450),
            memory_mib: Some(2_097_000),
            max_pods: Some(110),
            pods: None,
            created: Some("2026-01-02T03:04:05Z".parse().expect("an instant")),
            problems: [].into(),
        }
    );
}

#[test]
fn what_a_node_does_not_say_is_unknown_and_not_zero() {
    let row = row(
        &json!({"metadata": {"name": "bare", "labels": null}, "status": {"allocatable": {"cpu": "many"}}}),
    );
    assert_eq!(row, NodeRow { name: "bare".into(), schedulable: true, ..NodeRow::default() });
    assert_eq!(row.ready, None, "a node without a Ready condition is neither ready nor not ready");
}

#[test]
fn conditions_become_problems_only_where_their_polarity_is_known() {
    let condition =
        |kind: &str, status: &str, message: &str| json!({"type": kind, "status": status, "message": message});
    let with =
        |conditions: Value| row(&json!({"metadata": {"name": "n"}, "status": {"conditions": conditions}}));
    for (conditions, ready, problems) in [
        (
            json!([condition("Ready", "False", "container runtime is down")]),
            Some(false),
            vec!["Not ready: container runtime is down"],
        ),
        (
            json!([condition("Ready", "Unknown", "Kubelet stopped posting node status.")]),
            None,
            vec!["State unknown: Kubelet stopped posting node status."],
        ),
        (
            json!([condition("Ready", "True", ""), condition("DiskPressure", "True", "")]),
            Some(true),
            vec!["Disk pressure"],
        ),
        (json!([condition("KernelDeadlock", "True", "task hung")]), None, vec!["Kernel deadlock: task hung"]),
        (json!([condition("GpuFabricHealthy", "True", "fine"), condition("Odd", "False", "")]), None, vec![]),
        (json!(null), None, vec![]),
    ] {
        let row = with(conditions.clone());
        let found: Vec<&str> = row.problems.iter().map(AsRef::as_ref).collect();
        assert_eq!((row.ready, found), (ready, problems), "{conditions}");
    }
}

#[test]
fn a_long_message_is_cut_and_kept_on_one_line() {
    let message = "a\nb ".repeat(500);
    let row = row(
        &json!({"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "False", "message": message}]}}),
    );
    assert_eq!(row.problems[0].chars().count(), 201);
    assert!(!row.problems[0].contains('\n'));
}

#[test]
fn an_item_that_is_no_node_is_an_error() {
    for item in ["null", "{}", "[]", r#"{"metadata":{"name":7}}"#, r#"{"metadata":{"name":"n"}"#] {
        assert!(NodeRow::from_item(item.as_bytes()).is_err(), "{item}");
    }
}
