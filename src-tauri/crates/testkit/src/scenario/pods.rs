//! Pods as controllers, the scheduler and kubelets describe them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{ago, spread, uid, workloads};

/// How a pod is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Running, all containers ready.
    Running,
    /// Running, its container keeps failing.
    CrashLoop,
    /// Its image cannot be had.
    ImagePull,
    /// No node can take it; the scheduler says why.
    Waiting(&'static str),
    /// Done.
    Completed,
    /// Failed for good.
    Failed,
}

/// A set of like pods of one owner.
#[derive(Debug, Clone, Copy)]
pub struct PodPlan {
    /// Namespace.
    pub namespace: &'static str,
    /// Owner's kind.
    pub owner: &'static str,
    /// Owner's name.
    pub name: &'static str,
    /// Image.
    pub image: &'static str,
    /// Nodes they run on, one pod each; empty for pods that wait.
    pub nodes: &'static [&'static str],
    /// How many pods, where no node is named.
    pub count: usize,
    /// Resource and amount each asks for.
    pub asks: Option<(&'static str, u32)>,
    /// How they are doing.
    pub doing: Doing,
    /// Age in minutes.
    pub age: i64,
    /// Restarts.
    pub restarts: u32,
    /// Scheduling priority.
    pub priority: i32,
}

impl PodPlan {
    /// Running pods, one on each of these nodes.
    pub const fn running(
        namespace: &'static str,
        owner: &'static str,
        name: &'static str,
        image: &'static str,
        nodes: &'static [&'static str],
    ) -> Self {
        Self {
            namespace,
            owner,
            name,
            image,
            nodes,
            count: 0,
            asks: None,
            doing: Doing::Running,
            age: 60 * 26,
            restarts: 0,
            priority: 0,
        }
    }

    /// Asking for this.
    pub const fn asking(mut self, resource: &'static str, amount: u32) -> Self {
        self.asks = Some((resource, amount));
        self
    }

    /// Doing otherwise than well.
    pub const fn doing(mut self, doing: Doing) -> Self {
        self.doing = doing;
        self
    }

    /// This old, in minutes.
    pub const fn aged(mut self, minutes: i64) -> Self {
        self.age = minutes;
        self
    }

    /// Restarted this often.
    pub const fn restarted(mut self, times: u32) -> Self {
        self.restarts = times;
        self
    }

    /// Of this priority.
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// This many pods without a node.
    pub const fn waiting(mut self, count: usize, why: &'static str) -> Self {
        self.count = count;
        self.doing = Doing::Waiting(why);
        self
    }

    /// The Pod objects.
    pub fn objects(&self, cluster: &str, now: Timestamp, seed: u64) -> Vec<Value> {
        let places: Vec<Option<&str>> = if self.nodes.is_empty() {
            vec![None; self.count]
        } else {
            self.nodes.iter().copied().map(Some).collect()
        };
        places.into_iter().enumerate().map(|(at, node)| self.object(cluster, at, node, now, seed)).collect()
    }

    fn pod_name(&self, at: usize, id: u64) -> String {
        match self.owner {
            "StatefulSet" => format!("{}-{at}", self.name),
            "Job" | "DaemonSet" => format!("{}-{}", self.name, letters(id, 5)),
            _ => format!("{}-{}-{}", self.name, letters(spread(self.name, 7), 9), letters(id, 5)),
        }
    }

    fn object(&self, cluster: &str, at: usize, node: Option<&str>, now: Timestamp, seed: u64) -> Value {
        let id = spread(&format!("{cluster}/{}/{}/{at}", self.namespace, self.name), seed);
        let name = self.pod_name(at, id);
        let age = self.age + i64::try_from(id % 40).unwrap_or(0);
        let mut requests = json!({"cpu": "2", "memory": "8Gi"});
        let mut limits = json!({"memory": "8Gi"});
        if let Some((resource, amount)) = self.asks {
            requests[resource] = amount.to_string().into();
            limits[resource] = amount.to_string().into();
        }
        let owner_kind = if self.owner == "Deployment" { "ReplicaSet" } else { self.owner };
        let owner_name = match self.owner {
            "Deployment" => format!("{}-{}", self.name, letters(spread(self.name, 7), 9)),
            _ => self.name.to_owned(),
        };
        let toleration = json!({"operator": "Exists", "effect": "NoSchedule"});
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": self.namespace,
                "uid": uid(&format!("{cluster}/{}/{name}", self.namespace), seed),
                "resourceVersion": (200_000 + id % 90_000).to_string(),
                "creationTimestamp": ago(now, age),
                "labels": {"app.kubernetes.io/name": self.name},
                "ownerReferences": [{"apiVersion": workloads::api_of(self.owner).1, "kind": owner_kind, "name": owner_name,
                    "uid": uid(&owner_name, seed), "controller": true, "blockOwnerDeletion": true}],
            },
            "spec": {
                "nodeName": node,
                "priority": self.priority,
                "restartPolicy": if self.owner == "Job" { "Never" } else { "Always" },
                "tolerations": [toleration],
                "containers": [{
                    "name": self.name,
                    "image": self.image,
                    "env": [{"name": "MODEL_API_KEY", "value": "never-shown"}],
                    "resources": {"requests": requests, "limits": limits},
                }],
            },
            "status": self.status(node, id, age, now),
        })
    }

    fn status(&self, node: Option<&str>, id: u64, age: i64, now: Timestamp) -> Value {
        let scheduled =
            json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": ago(now, age)});
        if let Doing::Waiting(why) = self.doing {
            return json!({
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why,
                    "lastTransitionTime": ago(now, age)}],
            });
        }
        let started = ago(now, age - 1);
        let (phase, state, ready) = match self.doing {
            Doing::Running => ("Running", json!({"running": {"startedAt": started}}), true),
            Doing::CrashLoop => (
                "Running",
                json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}),
                false,
            ),
            Doing::ImagePull => (
                "Pending",
                json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}),
                false,
            ),
            Doing::Completed => (
                "Succeeded",
                json!({"terminated": {"reason": "Completed", "exitCode": 0, "finishedAt": ago(now, 5)}}),
                false,
            ),
            Doing::Failed | Doing::Waiting(_) => (
                "Failed",
                json!({"terminated": {"reason": "Error", "exitCode": 1, "finishedAt": ago(now, 5)}}),
                false,
            ),
        };
        let last = match self.restarts {
            0 => json!({}),
            _ => {
                json!({"terminated": {"reason": "Error", "exitCode": 137, "finishedAt": ago(now, 12 + i64::try_from(id % 50).unwrap_or(0))}})
            }
        };
        let is_ready = if ready { "True" } else { "False" };
        json!({
            "phase": phase,
            "podIP": node.map(|_| format!("10.{}.{}.{}", id % 200, id / 200 % 250, id / 50_000 % 250 + 2)),
            "startTime": started,
            "conditions": [scheduled, {"type": "Ready", "status": is_ready, "lastTransitionTime": started}],
            "containerStatuses": [{
                "name": self.name, "image": self.image, "ready": ready, "started": ready,
                "restartCount": self.restarts, "state": state, "lastState": last,
            }],
        })
    }
}

/// Letters as Kubernetes makes names from.
fn letters(mut from: u64, count: usize) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut out = String::new();
    for _ in 0..count {
        let at = usize::try_from(from % ALPHABET.len() as u64).unwrap_or(0);
        out.push(char::from(ALPHABET[at]));
        from = (from / ALPHABET.len() as u64) ^ from.rotate_left(17);
    }
    out
}
