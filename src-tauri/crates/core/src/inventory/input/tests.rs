//! The rows survive whatever a list may hold.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::inventory::quantity::{Count, Flaw};

fn row<T: DeserializeOwned>(item: &Value) -> T {
    serde_json::from_slice(item.to_string().as_bytes()).expect("a row never refuses JSON")
}

/// Values of every JSON type, to stand where something else is expected.
fn oddities() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(7),
        json!(-1.5),
        json!("text"),
        json!([]),
        json!([1, "a", {}]),
        json!({"a": [1]}),
    ]
}

/// Every copy of `item` in which one value, at any depth, is replaced by an oddity.
fn damaged(item: &Value) -> Vec<Value> {
    let mut copies = oddities();
    match item {
        Value::Object(fields) => {
            for (key, value) in fields {
                for odd in damaged(value) {
                    let mut copy = item.clone();
                    copy[key] = odd;
                    copies.push(copy);
                }
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                for odd in damaged(value) {
                    let mut copy = item.clone();
                    copy[index] = odd;
                    copies.push(copy);
                }
            }
        }
        _ => {}
    }
    copies
}

fn node() -> Value {
    json!({
        "metadata": {"name": "n1", "uid": "u1", "labels": {"a": "b", "nvidia.com/gpu.count": "8"}, "annotations": {"x": "y"}},
        "spec": {"unschedulable": true, "providerID": "aws:///z/i-1", "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"nvidia.com/gpu": "8", "cpu": "96"},
            "allocatable": {"nvidia.com/gpu": "8", "cpu": "95"},
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
        }
    })
}

fn pod() -> Value {
    json!({
        "metadata": {
            "name": "p", "namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{"kind": "Job", "name": "train", "controller": true}]
        },
        "spec": {
            "nodeName": "n1", "priority": -5,
            "containers": [{"name": "main", "resources": {"requests": {"nvidia.com/gpu": "2", "cpu": "1"}}}],
            "initContainers": [{"name": "sync", "restartPolicy": "Always", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "claim"}]
        },
        "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    })
}

fn slice() -> Value {
    json!({
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.nvidia.com", "nodeName": "n1",
            "pool": {"name": "n1", "generation": 2, "resourceSliceCount": 1},
            "devices": [{
                "name": "gpu-0",
                "attributes": {"type": {"string": "gpu"}, "uuid": {"string": "GPU-0"}, "productName": {"string": "NVIDIA H200"}},
                "capacity": {"memory": {"value": "141Gi"}},
                "consumesCounters": [{"counterSet": "card-0", "counters": {}}],
                "taints": [{"key": "lost", "effect": "NoSchedule"}]
            }]
        }
    })
}

fn claim() -> Value {
    json!({
        "metadata": {"name": "c", "namespace": "ns"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}]}},
        "status": {
            "allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-0"}]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]
        }
    })
}

fn rule() -> Value {
    json!({
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"driver": "d", "pool": "p", "device": "x"}, "taint": {"key": "k", "effect": "NoExecute"}}
    })
}

#[test]
fn no_misplaced_value_makes_a_row_unreadable() {
    for item in damaged(&node()) {
        let _: Node = row(&item);
    }
    for item in damaged(&pod()) {
        let _: Pod = row(&item);
    }
    for item in damaged(&slice()) {
        let _: ResourceSlice = row(&item);
    }
    for item in damaged(&claim()) {
        let _: ResourceClaim = row(&item);
    }
    for item in damaged(&rule()) {
        let _: DeviceTaintRule = row(&item);
        let _: DeviceClass = row(&item);
    }
}

#[test]
fn a_misplaced_value_is_named_and_the_other_fields_are_kept() {
    let mut item = node();
    item["spec"]["taints"] = json!("oops");
    let node: Node = row(&item);
    assert_eq!(node.faults.fields(), ["spec.taints"]);
    assert_eq!(node.capacity.and_then(|capacity| capacity.get("nvidia.com/gpu")), Some(Count::parse("8")));
}

#[test]
fn an_item_that_is_no_object_is_a_row_without_a_name() {
    let node: Node = row(&json!("oops"));
    assert_eq!((node.name.as_ref(), node.faults.fields()), ("", ["item"].as_slice()));
}

#[test]
fn a_node_keeps_extended_resources_and_forgets_the_others() {
    let node: Node = row(&node());
    let names: Vec<_> =
        node.capacity.iter().flat_map(|capacity| capacity.iter()).map(|(name, _)| name).collect();
    assert_eq!(names, ["nvidia.com/gpu"]);
    assert!(node.unschedulable);
    assert_eq!(node.provider_id.as_deref(), Some("aws:///z/i-1"));
    assert_eq!(node.labels.get("nvidia.com/gpu.count"), Some("8"));
}

#[test]
fn a_count_may_be_a_json_number_but_not_a_boolean() {
    let mut item = node();
    item["status"]["capacity"] = json!({"a/x": 8, "b/x": true, "c/x": 8.0, "d/x": 1e30, "e/x": null});
    let node: Node = row(&item);
    let capacity = node.capacity.expect("the map is there");
    assert_eq!(capacity.get("a/x"), Some(Count { units: Some(8), flaw: Some(Flaw::NonString) }));
    assert_eq!(capacity.get("b/x"), Some(Count::UNREADABLE));
    assert_eq!(capacity.get("c/x"), Some(Count { units: Some(8), flaw: Some(Flaw::NonString) }));
    assert_eq!(capacity.get("d/x"), Some(Count { units: None, flaw: Some(Flaw::Overflow) }));
    assert_eq!(capacity.get("e/x"), None, "null is absent");
}

#[test]
fn a_blank_label_is_no_label() {
    let mut item = node();
    item["metadata"]["labels"] = json!({"cloud.google.com/gke-accelerator": "", "x": " ", "y": 8});
    let node: Node = row(&item);
    assert_eq!(node.labels.get("cloud.google.com/gke-accelerator"), None);
    assert_eq!(node.labels.get("x"), None);
    assert_eq!(node.labels.get("y"), Some("8"));
}

#[test]
fn a_pod_row_holds_its_effective_request() {
    let pod: Pod = row(&pod());
    assert_eq!(pod.requests.get("nvidia.com/gpu"), Some(Count::parse("3")), "two mains and a sidecar");
    assert_eq!(pod.hold(), Hold::Held);
    assert!(pod.is_reclaimable());
    assert_eq!(pod.owner.as_ref().map(|owner| &*owner.name), Some("train"));
    assert_eq!(pod.claims.as_ref(), ["claim"]);
}

#[test]
fn requests_that_a_generated_claim_backs_are_not_requests() {
    let mut item = pod();
    item["status"]["extendedResourceClaimStatus"] = json!({
        "resourceClaimName": "generated",
        "requestMappings": [{"containerName": "main", "resourceName": "nvidia.com/gpu", "requestName": "r"}]
    });
    let pod: Pod = row(&item);
    assert_eq!(
        pod.requests.get("nvidia.com/gpu"),
        Some(Count::parse("1")),
        "the sidecar's own request is left"
    );
    assert_eq!(pod.claims.as_ref(), ["claim", "generated"]);
}

#[test]
fn a_device_reads_alike_from_v1_and_from_v1beta1() {
    let new: ResourceSlice = row(&slice());
    let mut item = slice();
    let device = item["spec"]["devices"][0].clone();
    item["spec"]["devices"][0] = json!({"name": "gpu-0", "basic": device});
    let old: ResourceSlice = row(&item);
    assert_eq!(new.devices, old.devices);
    assert_eq!(new.devices[0].memory_mib, Some(144_384));
    assert_eq!(new.placement, Placement::Node("n1".into()));
}

#[test]
fn attributes_may_carry_the_domain_of_their_driver() {
    let mut item = slice();
    item["spec"]["devices"][0]["attributes"] =
        json!({"gpu.nvidia.com/productName": {"string": "X"}, "other/type": {"string": "y"}});
    let slice: ResourceSlice = row(&item);
    assert_eq!(slice.devices[0].model.as_deref(), Some("X"));
    assert_eq!(slice.devices[0].device_type, None, "an attribute of another domain is another attribute");
}

#[test]
fn a_slice_may_name_the_attribute_that_holds_the_partition_type() {
    let mut item = slice();
    item["spec"]["partitionTypeAttribute"] = json!("gpu.nvidia.com/cut");
    item["spec"]["devices"][0]["attributes"] =
        json!({"cut": {"string": "1g.10gb"}, "profile": {"string": "other"}});
    let slice: ResourceSlice = row(&item);
    assert_eq!(slice.devices[0].profile.as_deref(), Some("1g.10gb"));
}

#[test]
fn a_request_of_a_claim_reads_alike_from_every_version() {
    let request = |request: Value| {
        let mut item = claim();
        item["spec"]["devices"]["requests"] = json!([request]);
        row::<ResourceClaim>(&item).requests[0].clone()
    };
    let two = DeviceRequest { class: "c".into(), count: Some(2) };
    assert_eq!(request(json!({"name": "r", "exactly": {"deviceClassName": "c", "count": 2}})), two);
    assert_eq!(request(json!({"name": "r", "deviceClassName": "c", "count": 2})), two);
    assert_eq!(
        request(json!({"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c", "count": 2}]})),
        two
    );
    let all = request(json!({"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "All"}}));
    assert_eq!(all.count, None);
}

#[test]
fn a_taint_of_effect_none_only_informs() {
    let mut item = slice();
    item["spec"]["devices"][0]["taints"] =
        json!([{"key": "a", "effect": "None"}, {"key": "b", "effect": "NoExecute"}, {"key": "c"}]);
    let slice: ResourceSlice = row(&item);
    let blocks: Vec<_> = slice.devices[0].taints.iter().map(|taint| taint.blocks).collect();
    assert_eq!(blocks, [false, true, true]);
}

#[test]
fn run_ai_groups_are_read_in_both_spellings() {
    let mut item = pod();
    item["metadata"]["labels"] = json!({"runai-gpu-group": "g1", "runai-gpu-group/g2": "g2", "other": "x"});
    item["metadata"]["annotations"] = json!({"gpu-fraction": "0.5"});
    let sharing = row::<Pod>(&item).sharing.expect("the pod shares");
    assert_eq!(sharing.groups.as_ref(), ["g1", "g2"]);
    assert!(sharing.sharer);
}
