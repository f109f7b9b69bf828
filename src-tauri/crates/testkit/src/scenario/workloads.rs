//! The controllers behind the pods, and the events that tell what is wrong with them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::pods::{Doing, PodPlan};
use super::{ago, spread, uid};

/// The plural that serves an owner's kind, and its API version.
pub(super) fn api_of(owner: &str) -> (&'static str, &'static str) {
    match owner {
        "Deployment" => ("deployments", "apps/v1"),
        "StatefulSet" => ("statefulsets", "apps/v1"),
        "DaemonSet" => ("daemonsets", "apps/v1"),
        _ => ("jobs", "batch/v1"),
    }
}

/// The controller of these pods.
pub(super) fn controller(plan: &PodPlan, cluster: &str, now: Timestamp, seed: u64) -> Value {
    let (_, api_version) = api_of(plan.owner);
    let count = if plan.nodes.is_empty() { plan.count } else { plan.nodes.len() };
    let ready = if plan.doing == Doing::Running { count } else { 0 };
    let labels = json!({"app.kubernetes.io/name": plan.name});
    let template = json!({
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": plan.name, "image": plan.image}]},
    });
    let mut spec = json!({"selector": {"matchLabels": labels}, "template": template});
    let status = match plan.owner {
        "DaemonSet" => json!({"desiredNumberScheduled": count, "currentNumberScheduled": count,
            "numberReady": ready, "numberAvailable": ready, "numberMisscheduled": 0}),
        "Job" => {
            spec["parallelism"] = count.into();
            spec["completions"] = count.into();
            match plan.doing {
                Doing::Completed => json!({"succeeded": count}),
                Doing::Failed => json!({"failed": count}),
                _ => json!({"active": count, "ready": ready}),
            }
        }
        _ => {
            spec["replicas"] = count.into();
            json!({"replicas": count, "readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": count})
        }
    };
    json!({
        "apiVersion": api_version,
        "kind": plan.owner,
        "metadata": {
            "name": plan.name,
            "namespace": plan.namespace,
            "uid": uid(&format!("{cluster}/{}/{}", plan.namespace, plan.name), seed),
            "creationTimestamp": ago(now, plan.age + 60),
            "generation": 1 + spread(plan.name, seed) % 9,
            "labels": labels,
        },
        "spec": spec,
        "status": status,
    })
}

/// What the cluster says of a pod that is not well; nothing of one that is.
pub(super) fn event(plan: &PodPlan, pod: &Value, now: Timestamp, seed: u64) -> Option<Value> {
    let (reason, message, component) = match plan.doing {
        Doing::Waiting(why) => ("FailedScheduling", why.to_owned(), "default-scheduler"),
        Doing::CrashLoop => {
            ("BackOff", format!("Back-off restarting failed container {}", plan.name), "kubelet")
        }
        Doing::ImagePull => {
            ("Failed", format!("Failed to pull image \"{}\": not found", plan.image), "kubelet")
        }
        Doing::Failed => {
            ("BackoffLimitExceeded", "Job has reached the specified backoff limit".into(), "job-controller")
        }
        Doing::Running | Doing::Completed => return None,
    };
    let metadata = &pod["metadata"];
    let pod_name = metadata["name"].as_str().unwrap_or_default();
    let id = spread(pod_name, seed);
    Some(json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{pod_name}.{id:016x}"), "namespace": plan.namespace,
            "uid": uid(&format!("event/{pod_name}"), seed), "creationTimestamp": ago(now, plan.age)},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": plan.namespace, "name": pod_name,
            "uid": metadata["uid"]},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "firstTimestamp": ago(now, plan.age),
        "lastTimestamp": ago(now, 1 + i64::try_from(id % 4).unwrap_or(0)),
        "count": 3 + id % 200,
    }))
}
