//! The clusters.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::measured::{self, Measured};
use super::nodes::{Card, NodePlan};
use super::pods::{Doing, PodPlan};
use super::{ago, uid, workloads};
use crate::apiserver::World;

/// One cluster.
#[derive(Debug, Clone, Copy)]
pub struct ClusterPlan {
    /// Name of the registration and of the server.
    pub name: &'static str,
    /// The org whose registry holds it; `None` for clusters that nobody has registered yet.
    pub org: Option<&'static str>,
    /// Provider in its row.
    pub provider: &'static str,
    /// Kubernetes release.
    pub version: &'static str,
    /// Whether it answers.
    pub up: bool,
    /// Namespaces that the org may address; empty for the whole cluster.
    pub bound: &'static [&'static str],
    /// Whether it is the org's default.
    pub default: bool,
    /// Whether its credential is a client certificate (P-521) rather than a token.
    pub by_certificate: bool,
    /// What measures its accelerators.
    pub measured: Measured,
    nodes: &'static [NodePlan],
    pods: &'static [PodPlan],
}

const TRAIN: &str = "nvcr.io/nvidia/pytorch:25.10-py3";
const SERVE: &str = "vllm/vllm-openai:v0.11.0";
const ROCM: &str = "rocm/vllm:rocm7.0_vllm_0.11";
const WEB: &str = "ghcr.io/orchard/storefront:2026.11.4";
const NO_ROOM: &str = "0/12 nodes are available: 3 Insufficient cpu, 9 Insufficient nvidia.com/gpu. preemption: 0/12 nodes are available: 12 No preemption victims found for incoming pod.";

const LATTICE_NODES: &[NodePlan] = &[
    NodePlan::new("gpu-a01", Card::H100, "eu-west-1a"),
    NodePlan::new("gpu-a02", Card::H100, "eu-west-1a"),
    NodePlan::new("gpu-a03", Card::H100, "eu-west-1a").unhealthy(1),
    NodePlan::new("gpu-a04", Card::H100, "eu-west-1a"),
    NodePlan::new("gpu-b01", Card::H100, "eu-west-1b"),
    NodePlan::new("gpu-b02", Card::H100, "eu-west-1b").cordoned(),
    NodePlan::new("gpu-b03", Card::H100, "eu-west-1b"),
    NodePlan::new("gpu-b04", Card::H100, "eu-west-1b").lost(),
    NodePlan::new("gpu-b05", Card::H100, "eu-west-1b"),
    NodePlan::new("cpu-01", Card::None, "eu-west-1a"),
    NodePlan::new("cpu-02", Card::None, "eu-west-1b"),
    NodePlan::new("cpu-03", Card::None, "eu-west-1b"),
];

const LATTICE_PODS: &[PodPlan] = &[
    PodPlan::running("training", "Job", "aurora-pretrain", TRAIN, &["gpu-a01", "gpu-a02", "gpu-b01"])
        .asking("nvidia.com/gpu", 8)
        .aged(60 * 52),
    PodPlan::running("training", "StatefulSet", "rlhf-rollout", TRAIN, &["gpu-a03", "gpu-b03"])
        .asking("nvidia.com/gpu", 4)
        .aged(60 * 9)
        .restarted(2),
    PodPlan::running("inference", "Deployment", "chat-70b", SERVE, &["gpu-a03", "gpu-a04", "gpu-b03"])
        .asking("nvidia.com/gpu", 2),
    PodPlan::running("inference", "Deployment", "embeddings", SERVE, &["gpu-a04", "gpu-b05"])
        .asking("nvidia.com/gpu", 1)
        .aged(60 * 80),
    PodPlan::running("inference", "Deployment", "reranker", SERVE, &["gpu-b05"])
        .asking("nvidia.com/gpu", 1)
        .doing(Doing::CrashLoop)
        .restarted(37),
    PodPlan::running("research", "StatefulSet", "notebook-mira", TRAIN, &["gpu-b02"])
        .asking("nvidia.com/gpu", 2)
        .aged(60 * 24 * 6),
    PodPlan::running("research", "Job", "eval-sweep", TRAIN, &[])
        .waiting(3, NO_ROOM)
        .asking("nvidia.com/gpu", 8)
        .aged(42),
    PodPlan::running("research", "Job", "ablation-14", TRAIN, &["gpu-b05"])
        .asking("nvidia.com/gpu", 4)
        .doing(Doing::Completed),
    PodPlan::running(
        "gpu-operator",
        "DaemonSet",
        "nvidia-device-plugin",
        "nvcr.io/nvidia/k8s-device-plugin:v0.18.0",
        &["gpu-a01", "gpu-a02", "gpu-a03", "gpu-a04", "gpu-b01", "gpu-b02", "gpu-b03", "gpu-b04", "gpu-b05"],
    )
    .aged(60 * 24 * 40),
    PodPlan::running("web", "Deployment", "console", WEB, &["cpu-01", "cpu-02", "cpu-03"]),
    PodPlan::running(
        "kube-system",
        "Deployment",
        "coredns",
        "registry.k8s.io/coredns/coredns:v1.13.1",
        &["cpu-01", "cpu-02"],
    )
    .aged(60 * 24 * 40),
];

const MERIDIAN_NODES: &[NodePlan] = &[
    NodePlan::new("mig-01", Card::H100Mig, "us-east-2a"),
    NodePlan::new("mig-02", Card::H100Mig, "us-east-2b"),
    NodePlan::new("whole-01", Card::H100, "us-east-2a"),
    NodePlan::new("whole-02", Card::H100, "us-east-2b"),
    NodePlan::new("sys-01", Card::None, "us-east-2a"),
];

const MERIDIAN_PODS: &[PodPlan] = &[
    PodPlan::running(
        "notebooks",
        "StatefulSet",
        "jupyter",
        TRAIN,
        &["mig-01", "mig-01", "mig-01", "mig-02", "mig-02"],
    )
    .asking("nvidia.com/mig-1g.10gb", 1),
    PodPlan::running("serving", "Deployment", "summarise", SERVE, &["mig-01", "mig-02", "mig-02"])
        .asking("nvidia.com/mig-3g.40gb", 1),
    PodPlan::running("serving", "Deployment", "vision-32b", SERVE, &["whole-01"]).asking("nvidia.com/gpu", 4),
    PodPlan::running("serving", "Deployment", "speech", SERVE, &["whole-02"])
        .asking("nvidia.com/gpu", 1)
        .doing(Doing::ImagePull)
        .aged(18),
    PodPlan::running("batch", "Job", "hpc-verification", TRAIN, &["whole-02"])
        .asking("nvidia.com/gpu", 4)
        .priority(-1000)
        .aged(30),
    PodPlan::running(
        "kube-system",
        "Deployment",
        "coredns",
        "registry.k8s.io/coredns/coredns:v1.13.1",
        &["sys-01"],
    ),
];

const BASALT_NODES: &[NodePlan] = &[
    NodePlan::new("mi300-01", Card::Mi300x, "fra1"),
    NodePlan::new("mi300-02", Card::Mi300x, "fra1"),
    NodePlan::new("mi300-03", Card::Mi300x, "fra1").unhealthy(2),
    NodePlan::new("ctl-01", Card::None, "fra1"),
];

const BASALT_PODS: &[PodPlan] = &[
    PodPlan::running("llm", "Deployment", "mixtral", ROCM, &["mi300-01", "mi300-02"])
        .asking("amd.com/gpu", 4),
    PodPlan::running("llm", "Job", "finetune-9b", ROCM, &["mi300-03"]).asking("amd.com/gpu", 4).aged(200),
    PodPlan::running(
        "kube-system",
        "Deployment",
        "coredns",
        "registry.k8s.io/coredns/coredns:v1.13.1",
        &["ctl-01"],
    ),
];

const PLAZA_NODES: &[NodePlan] = &[
    NodePlan::new("worker-1", Card::None, "eu-central-1a"),
    NodePlan::new("worker-2", Card::None, "eu-central-1b"),
    NodePlan::new("worker-3", Card::None, "eu-central-1c"),
];

const PLAZA_PODS: &[PodPlan] = &[
    PodPlan::running("storefront", "Deployment", "web", WEB, &["worker-1", "worker-2", "worker-3"])
        .aged(60 * 3),
    PodPlan::running("storefront", "StatefulSet", "postgres", "postgres:18.1", &["worker-1", "worker-2"])
        .aged(60 * 24 * 90),
    PodPlan::running("storefront", "Job", "nightly-report", WEB, &["worker-3"])
        .doing(Doing::Failed)
        .aged(60 * 7),
    PodPlan::running(
        "kube-system",
        "Deployment",
        "coredns",
        "registry.k8s.io/coredns/coredns:v1.13.1",
        &["worker-1"],
    ),
];

const COMMONS_NODES: &[NodePlan] = &[
    NodePlan::new("shared-1", Card::H100, "eu-north-1a"),
    NodePlan::new("shared-2", Card::None, "eu-north-1b"),
];

const COMMONS_PODS: &[PodPlan] = &[
    PodPlan::running("orchard-dev", "Deployment", "playground", SERVE, &["shared-1"])
        .asking("nvidia.com/gpu", 1)
        .aged(95),
    PodPlan::running("orchard-dev", "Deployment", "api", WEB, &["shared-2", "shared-2"]).aged(60 * 5),
    PodPlan::running("orchard-ci", "Job", "build-4821", WEB, &["shared-2"]).aged(6),
    PodPlan::running("somebody-else", "Deployment", "secret-project", WEB, &["shared-1"])
        .asking("nvidia.com/gpu", 6),
];

const NEWCOMER_NODES: &[NodePlan] =
    &[NodePlan::new("l40s-1", Card::L40s, "eu-west-3a"), NodePlan::new("l40s-2", Card::L40s, "eu-west-3b")];

const NEWCOMER_PODS: &[PodPlan] = &[
    PodPlan::running("inference", "Deployment", "tts", SERVE, &["l40s-1", "l40s-2"])
        .asking("nvidia.com/gpu", 1)
        .aged(55),
    PodPlan::running(
        "kube-system",
        "Deployment",
        "coredns",
        "registry.k8s.io/coredns/coredns:v1.13.1",
        &["l40s-1"],
    ),
];

const HARBOR_NODES: &[NodePlan] = &[NodePlan::new("dock-1", Card::L40s, "ap-south-1a")];
const HARBOR_PODS: &[PodPlan] =
    &[PodPlan::running("harbor-only", "Deployment", "crane", SERVE, &["dock-1"]).asking("nvidia.com/gpu", 2)];

const fn cluster(
    name: &'static str,
    org: Option<&'static str>,
    provider: &'static str,
    nodes: &'static [NodePlan],
    pods: &'static [PodPlan],
) -> ClusterPlan {
    ClusterPlan {
        name,
        org,
        provider,
        version: "v1.34.2",
        up: true,
        bound: &[],
        default: false,
        by_certificate: false,
        measured: Measured::No,
        nodes,
        pods,
    }
}

/// Every cluster of the demo.
pub const FLEET: [ClusterPlan; 8] = [
    ClusterPlan {
        default: true,
        measured: Measured::DcgmAndPrometheus,
        ..cluster("lattice", Some("orchard"), "eks", LATTICE_NODES, LATTICE_PODS)
    },
    ClusterPlan {
        by_certificate: true,
        measured: Measured::Prometheus,
        ..cluster("meridian", Some("orchard"), "eks", MERIDIAN_NODES, MERIDIAN_PODS)
    },
    ClusterPlan {
        version: "v1.33.6",
        measured: Measured::Amd,
        ..cluster("basalt", Some("orchard"), "oke", BASALT_NODES, BASALT_PODS)
    },
    ClusterPlan { version: "v1.32.10", ..cluster("plaza", Some("orchard"), "byo", PLAZA_NODES, PLAZA_PODS) },
    ClusterPlan {
        bound: &["orchard-dev", "orchard-ci"],
        ..cluster("commons", Some("orchard"), "byo", COMMONS_NODES, COMMONS_PODS)
    },
    ClusterPlan { up: false, ..cluster("faraway", Some("orchard"), "gke", PLAZA_NODES, PLAZA_PODS) },
    cluster("lattice", Some("harbor"), "byo", HARBOR_NODES, HARBOR_PODS),
    cluster("newcomer", None, "byo", NEWCOMER_NODES, NEWCOMER_PODS),
];

/// A cluster's objects.
pub fn plan(cluster: &ClusterPlan, now: Timestamp, seed: u64) -> World {
    let id = format!("{}/{}", cluster.org.unwrap_or("nobody"), cluster.name);
    let mut world = World::default();
    world.add("nodes", cluster.nodes.iter().map(|node| node.object(&id, now, seed)));
    for plan in cluster.pods {
        let pods = plan.objects(&id, now, seed);
        world.add("events", pods.iter().filter_map(|pod| workloads::event(plan, pod, now, seed)));
        world.add("pods", pods);
        let (plural, _) = workloads::api_of(plan.owner);
        world.add(plural, [workloads::controller(plan, &id, now, seed)]);
    }
    measured::add(&mut world, cluster, &id, now, seed);
    let mut namespaces: Vec<&str> = cluster.pods.iter().map(|pods| pods.namespace).collect();
    namespaces.extend(["default", "kube-system"]);
    match cluster.measured {
        Measured::No => {}
        Measured::Prometheus => namespaces.push("monitoring"),
        Measured::DcgmAndPrometheus => namespaces.extend(["monitoring", "gpu-operator"]),
        Measured::Amd => namespaces.push("kube-amd-gpu"),
    }
    namespaces.sort_unstable();
    namespaces.dedup();
    world.add("namespaces", namespaces.into_iter().map(|name| namespace(&id, name, now, seed)));
    world
}

fn namespace(cluster: &str, name: &str, now: Timestamp, seed: u64) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "uid": uid(&format!("{cluster}/{name}"), seed),
            "creationTimestamp": ago(now, 60 * 24 * 41),
            "labels": {"kubernetes.io/metadata.name": name},
        },
        "status": {"phase": "Active"},
    })
}

impl ClusterPlan {
    /// Its nodes.
    pub fn nodes(&self) -> &'static [NodePlan] {
        self.nodes
    }

    /// Nodes, and the allocatable sums of `nvidia.com/gpu` and `amd.com/gpu`, as the index row holds them.
    pub fn counts(&self) -> (usize, u64, u64) {
        let sum = |wanted: &str| {
            self.nodes
                .iter()
                .filter_map(|node| {
                    let object = node.object(self.name, Timestamp::UNIX_EPOCH, 0);
                    object["status"]["allocatable"][wanted].as_str()?.parse::<u64>().ok()
                })
                .sum()
        };
        (self.nodes.len(), sum("nvidia.com/gpu"), sum("amd.com/gpu"))
    }
}
