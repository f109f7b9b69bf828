//! Pod rows from items as API servers send them.

use serde_json::json;

use super::*;

#[test]
fn a_pod_is_read_with_everything_that_the_screen_shows_and_no_environment() {
    let item = json!({
        "metadata": {
            "name": "train-0", "namespace": "team-a", "creationTimestamp": "2026-01-02T03:04:05Z",
            "ownerReferences": [{"kind": "Node", "name": "x"}, {"kind": "Job", "name": "train", "controller": true}],
        },
        "spec": {
            "nodeName": "gpu-1",
            "containers": [
                {"name": "main", "image": "registry.example/train:3", "env": [{"name": "TOKEN", "value": "canary-env"}],
                 "resources": {"limits": {"nvidia.com/gpu": "4", "cpu": "8"}}},
                {"name": "side", "image": "registry.example/train:3"},
            ],
        },
        "status": {
            "phase": "Running", "podIP": "10.2.3.4",
            "containerStatuses": [
                {"name": "main", "ready": false, "restartCount": 3,
                 "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s\nrestarting"}},
                 "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-03T00:00:00Z"}}},
                {"name": "side", "ready": true, "restartCount": 0, "state": {"running": {}}},
            ],
        },
    });
    let row = PodRow::from_item(item.to_string().as_bytes()).expect("a pod");
    assert_eq!((&*row.namespace, &*row.name, &*row.status), ("team-a", "train-0", "CrashLoopBackOff"));
    assert_eq!((row.ready, row.containers, row.restarts, row.health), (1, 2, 3, Health::Bad));
    assert_eq!((row.node.as_deref(), row.ip.as_deref()), (Some("gpu-1"), Some("10.2.3.4")));
    assert_eq!(row.owner.as_deref(), Some("Job/train"), "the controller, not any other owner");
    assert_eq!(row.devices.get("nvidia.com/gpu").and_then(|count| count.units), Some(4));
    assert_eq!(row.images.len(), 1, "an image that two containers share is told once");
    assert_eq!(row.reason.as_deref(), Some("back-off 5m0s restarting"));
    assert_eq!(row.last_restart.map(|t| t.to_string()).as_deref(), Some("2026-01-03T00:00:00Z"));
    assert!(!format!("{row:?}").contains("canary"), "no environment in a row");
}

#[test]
fn a_waiting_pod_says_why_in_the_schedulers_words() {
    let item = json!({
        "metadata": {"name": "p", "namespace": "n"},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."},
        ]},
    });
    let row = PodRow::from_item(item.to_string().as_bytes()).expect("a pod");
    assert_eq!(row.reason.as_deref(), Some("0/3 nodes are available: 3 Insufficient nvidia.com/gpu."));
    assert_eq!((row.node, row.ip, row.owner), (None, None, None));
}

#[test]
fn a_good_pod_has_no_reason() {
    let item = json!({
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Running", "message": "an old one", "containerStatuses": [{"name": "c", "ready": true, "state": {"running": {}}}]},
    });
    let row = PodRow::from_item(item.to_string().as_bytes()).expect("a pod");
    assert_eq!((row.health, row.reason), (Health::Good, None));
}

#[test]
fn an_item_that_is_no_pod_is_an_error() {
    for item in ["null", "{}", r#"{"metadata":{"name":"p"},"status":{"phase":7}}"#] {
        assert!(PodRow::from_item(item.as_bytes()).is_err(), "{item}");
    }
}
