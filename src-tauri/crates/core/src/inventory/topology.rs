//! Where a node sits in its fabric: NVLink domain and clique, and the blocks that clouds and Topograph write.
//!
//! `nvidia.com/gpu.clique` is `<cluster UUID>.<clique id>`: the UUID is the NVLink domain (the rack of a GB200 NVL72), the
//! whole value the partition of it. It is absent until Fabric Manager is done, and on machines without multi-node NVLink.

use std::collections::BTreeMap;

use serde::Serialize;

use super::input::Labels;
use super::name::Name;

/// Labels that place a node in a fabric, from the narrowest to the widest, with the name under which they are shown.
const LEVELS: [(&str, &str); 18] = [
    ("accelerator", "accelerator.topograph.run/domain"),
    ("accelerator", "network.topology.nvidia.com/accelerator"),
    ("accelerator", "ds.coreweave.com/nvlink.domain"),
    ("subAccelerator", "accelerator.topograph.run/sub-domain"),
    ("leaf", "network.topology.nvidia.com/leaf"),
    ("spine", "network.topology.nvidia.com/spine"),
    ("core", "network.topology.nvidia.com/core"),
    ("host", "cloud.google.com/gce-topology-host"),
    ("subblock", "cloud.google.com/gce-topology-subblock"),
    ("block", "cloud.google.com/gce-topology-block"),
    ("localBlock", "oci.oraclecloud.com/rdma.local_block_id"),
    ("networkBlock", "oci.oraclecloud.com/rdma.network_block_id"),
    ("hpcIsland", "oci.oraclecloud.com/rdma.hpc_island_id"),
    ("leafGroup", "ib.coreweave.cloud/leafgroup"),
    ("superpod", "ib.coreweave.cloud/superpod"),
    ("fabric", "ib.coreweave.cloud/fabric"),
    ("gpuCluster", "topology.nebius.com/gpu-cluster-id"),
    ("ultraserver", "topology.k8s.aws/ultraserver-id"),
];

/// Label families whose last part is the level.
const TIERS: [&str; 2] = ["fabric.topograph.run/", "topology.k8s.aws/network-node-layer-"];

/// Where a node sits in its fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Topology {
    /// NVLink domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvlink_domain: Option<Name>,
    /// NVLink partition within the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clique: Option<Name>,
    /// TPU slice shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpu_topology: Option<Name>,
    /// Other levels, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<Name, Name>,
}

impl Topology {
    /// Reads a node's place from its labels.
    pub fn of(labels: &Labels) -> Self {
        let clique = labels.get("nvidia.com/gpu.clique");
        let mut levels: BTreeMap<Name, Name> = BTreeMap::new();
        for (level, label) in LEVELS {
            if let Some(value) = labels.get(label) {
                levels.entry(level.into()).or_insert_with(|| value.into());
            }
        }
        for family in TIERS {
            for (key, value) in labels.with_prefix(family).filter(|(_, value)| !value.is_empty()) {
                let tier = &key[family.len()..];
                let level = if tier.starts_with("tier-") { tier.to_owned() } else { format!("layer-{tier}") };
                levels.insert(level.into(), value.into());
            }
        }
        Self {
            nvlink_domain: clique
                .map(|clique| clique.rsplit_once('.').map_or(clique, |(domain, _)| domain).into()),
            clique: clique.map(Name::from),
            tpu_topology: labels.get("cloud.google.com/gke-tpu-topology").map(Name::from),
            levels,
        }
    }

    /// Whether nothing places the node.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clique_belongs_to_the_domain_in_front_of_its_last_point() {
        let labels: Labels = [
            ("nvidia.com/gpu.clique", "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.2"),
            ("accelerator.topograph.run/domain", "nvl-7"),
            ("fabric.topograph.run/tier-0", "leaf-3"),
        ]
        .into_iter()
        .collect();
        let topology = Topology::of(&labels);
        assert_eq!(topology.nvlink_domain.as_deref(), Some("7b968a6d-c8aa-45e1-9e07-e1e51be99c31"));
        assert_eq!(topology.clique.as_deref(), Some("7b968a6d-c8aa-45e1-9e07-e1e51be99c31.2"));
        assert_eq!(topology.levels.get("accelerator").map(|value| &**value), Some("nvl-7"));
        assert_eq!(topology.levels.get("tier-0").map(|value| &**value), Some("leaf-3"));
    }

    #[test]
    fn a_node_without_labels_has_no_place() {
        assert!(Topology::of(&Labels::default()).is_unknown());
    }
}
