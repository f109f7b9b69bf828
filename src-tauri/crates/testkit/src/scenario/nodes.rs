//! Nodes as kubelets, GPU feature discovery and AMD's node labeller describe them.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{ago, spread, uid};

/// What a node carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Card {
    /// Eight H100, whole.
    H100,
    /// Eight H100 cut by MIG, strategy mixed: two 3g.40gb on each of four cards, seven 1g.10gb on the others.
    H100Mig,
    /// Eight MI300X.
    Mi300x,
    /// Four L40S.
    L40s,
    /// None.
    None,
}

/// One node.
#[derive(Debug, Clone, Copy)]
pub struct NodePlan {
    /// Name.
    pub name: &'static str,
    /// Cards.
    pub card: Card,
    /// Zone.
    pub zone: &'static str,
    /// Cards that the device plugin took out.
    pub unhealthy: u32,
    /// Cordoned.
    pub cordoned: bool,
    /// The kubelet stopped reporting.
    pub lost: bool,
}

impl NodePlan {
    /// A healthy node.
    pub const fn new(name: &'static str, card: Card, zone: &'static str) -> Self {
        Self { name, card, zone, unhealthy: 0, cordoned: false, lost: false }
    }

    /// With cards taken out.
    pub const fn unhealthy(mut self, cards: u32) -> Self {
        self.unhealthy = cards;
        self
    }

    /// Cordoned.
    pub const fn cordoned(mut self) -> Self {
        self.cordoned = true;
        self
    }

    /// Not reporting.
    pub const fn lost(mut self) -> Self {
        self.lost = true;
        self
    }

    /// Resources that cards bring, as (name, capacity).
    fn resources(&self) -> Vec<(&'static str, u32)> {
        match self.card {
            Card::H100 => vec![("nvidia.com/gpu", 8)],
            Card::H100Mig => {
                vec![("nvidia.com/gpu", 0), ("nvidia.com/mig-3g.40gb", 8), ("nvidia.com/mig-1g.10gb", 28)]
            }
            Card::Mi300x => vec![("amd.com/gpu", 8)],
            Card::L40s => vec![("nvidia.com/gpu", 4)],
            Card::None => vec![],
        }
    }

    fn labels(&self) -> Vec<(&'static str, String)> {
        let gfd = |product: &str, memory: u32, count: u32, strategy: &str| {
            vec![
                ("nvidia.com/gpu.product", product.to_owned()),
                ("nvidia.com/gpu.memory", memory.to_string()),
                ("nvidia.com/gpu.count", count.to_string()),
                ("nvidia.com/gpu.replicas", "1".to_owned()),
                ("nvidia.com/gpu.sharing-strategy", "none".to_owned()),
                ("nvidia.com/gpu.present", "true".to_owned()),
                (
                    "nvidia.com/gpu.family",
                    if product.contains("L40S") { "ada-lovelace" } else { "hopper" }.to_owned(),
                ),
                ("nvidia.com/cuda.driver-version.full", "580.95.05".to_owned()),
                ("nvidia.com/mig.capable", (!product.contains("L40S")).to_string()),
                ("nvidia.com/mig.strategy", strategy.to_owned()),
            ]
        };
        match self.card {
            Card::H100 => gfd("NVIDIA-H100-80GB-HBM3", 81_559, 8, "mixed"),
            Card::H100Mig => {
                let mut labels = gfd("NVIDIA-H100-80GB-HBM3", 81_559, 8, "mixed");
                labels.extend([
                    ("nvidia.com/mig-3g.40gb.count", "8".to_owned()),
                    ("nvidia.com/mig-3g.40gb.memory", "40320".to_owned()),
                    ("nvidia.com/mig-3g.40gb.product", "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb".to_owned()),
                    ("nvidia.com/mig-1g.10gb.count", "28".to_owned()),
                    ("nvidia.com/mig-1g.10gb.memory", "9984".to_owned()),
                    ("nvidia.com/mig-1g.10gb.product", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb".to_owned()),
                    ("nvidia.com/mig.config", "half-3g-half-1g".to_owned()),
                    ("nvidia.com/mig.config.state", "success".to_owned()),
                ]);
                labels
            }
            Card::L40s => gfd("NVIDIA-L40S", 46_068, 4, "single"),
            Card::Mi300x => vec![
                ("amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM".to_owned()),
                ("amd.com/gpu.vram", "192G".to_owned()),
                ("amd.com/gpu.device-id", "74a1".to_owned()),
                ("amd.com/gpu.family", "AI".to_owned()),
                ("amd.com/gpu.cu-count", "304".to_owned()),
                ("amd.com/gpu.driver-version", "6.12.12".to_owned()),
            ],
            Card::None => vec![],
        }
    }

    fn instance(&self) -> (&'static str, u32, u32) {
        match self.card {
            Card::H100 | Card::H100Mig => ("p5.48xlarge", 192, 2_097_152),
            Card::Mi300x => ("BM.GPU.MI300X.8", 224, 2_097_152),
            Card::L40s => ("g6e.12xlarge", 48, 393_216),
            Card::None => ("m7i.4xlarge", 16, 65_536),
        }
    }

    /// The Node object.
    pub fn object(&self, cluster: &str, now: Timestamp, seed: u64) -> Value {
        let (instance, cores, memory) = self.instance();
        let index = spread(self.name, seed);
        let mut labels = Map::new();
        for (key, value) in [
            ("kubernetes.io/hostname", self.name.to_owned()),
            ("kubernetes.io/arch", "amd64".to_owned()),
            ("kubernetes.io/os", "linux".to_owned()),
            ("node.kubernetes.io/instance-type", instance.to_owned()),
            ("topology.kubernetes.io/region", self.zone.trim_end_matches(char::is_alphabetic).to_owned()),
            ("topology.kubernetes.io/zone", self.zone.to_owned()),
        ]
        .into_iter()
        .chain(self.labels())
        {
            labels.insert(key.to_owned(), value.into());
        }
        let mut capacity = Map::new();
        capacity.insert("cpu".into(), cores.to_string().into());
        capacity.insert("memory".into(), format!("{memory}Mi").into());
        capacity.insert("ephemeral-storage".into(), "1800Gi".into());
        capacity.insert("pods".into(), "110".into());
        let mut allocatable = capacity.clone();
        allocatable.insert("cpu".into(), format!("{}m", cores * 1000 - 250).into());
        allocatable.insert("memory".into(), format!("{}Mi", memory - 2_048).into());
        for (name, count) in self.resources() {
            capacity.insert(name.into(), count.to_string().into());
            allocatable.insert(name.into(), count.saturating_sub(self.unhealthy).to_string().into());
        }
        let mut taints = Vec::new();
        match self.card {
            Card::None => {}
            Card::Mi300x => {
                taints.push(json!({"key": "amd.com/gpu", "value": "present", "effect": "NoSchedule"}))
            }
            _ => taints.push(json!({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"})),
        }
        if self.cordoned {
            taints.push(json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": ago(now, 190)}));
        }
        let (ready, reason, message) = if self.lost {
            ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
        } else {
            ("True", "KubeletReady", "kubelet is posting ready status")
        };
        let condition = |kind: &str, status: &str, reason: &str, message: &str| {
            json!({"type": kind, "status": status, "reason": reason, "message": message,
                "lastHeartbeatTime": ago(now, if self.lost { 47 } else { 1 }), "lastTransitionTime": ago(now, 47)})
        };
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": self.name,
                "uid": uid(&format!("{cluster}/{}", self.name), seed),
                "resourceVersion": (10_000 + index % 90_000).to_string(),
                "creationTimestamp": ago(now, 60 * 24 * 40 + i64::try_from(index % 9000).unwrap_or(0)),
                "labels": labels,
                "annotations": {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            },
            "spec": {
                "podCIDR": format!("10.{}.{}.0/24", index % 200, index / 200 % 250),
                "providerID": format!("aws:///{}/i-{:017x}", self.zone, index),
                "unschedulable": self.cordoned,
                "taints": taints,
            },
            "status": {
                "capacity": capacity,
                "allocatable": allocatable,
                "conditions": [
                    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                    condition("Ready", ready, reason, message),
                ],
                "addresses": [
                    {"type": "InternalIP", "address": format!("10.{}.{}.{}", index % 200, index / 200 % 250, index / 50_000 % 250 + 2)},
                    {"type": "Hostname", "address": self.name},
                ],
                "nodeInfo": {"kubeletVersion": "v1.34.2", "osImage": "Ubuntu 24.04.3 LTS", "kernelVersion": "6.8.0-87-generic",
                    "containerRuntimeVersion": "containerd://2.1.4", "architecture": "amd64", "operatingSystem": "linux"},
                "images": [{"names": ["nvcr.io/nvidia/pytorch:25.10-py3"], "sizeBytes": 11_240_316_928_u64}],
            },
        })
    }
}
