//! A case: the objects of one cluster, or of several, as the API lists them.

use std::error::Error;

use muster_core::inventory::input::{DeviceClass, DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice};
use muster_core::inventory::{
    ClusterInput, ClusterInventory, FleetMember, Listing, Reading, fleet, inventory,
};
use serde::Deserialize;
use serde_json::Value;

/// The lists of one cluster. A list that is `null` is forbidden; one that is missing is empty.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lists {
    #[serde(default = "empty")]
    nodes: Option<Vec<Node>>,
    #[serde(default = "empty")]
    pods: Option<Vec<Pod>>,
    #[serde(default = "empty")]
    resource_slices: Option<Vec<ResourceSlice>>,
    #[serde(default = "empty")]
    resource_claims: Option<Vec<ResourceClaim>>,
    #[serde(default = "empty")]
    device_classes: Option<Vec<DeviceClass>>,
    #[serde(default = "empty")]
    device_taint_rules: Option<Vec<DeviceTaintRule>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedLists {
    context: String,
    kube_system_uid: Option<String>,
    #[serde(flatten)]
    lists: Lists,
}

fn empty<T>() -> Option<Vec<T>> {
    Some(Vec::new())
}

impl Lists {
    fn inventory(&self) -> ClusterInventory {
        inventory(&ClusterInput {
            nodes: Listing::from(self.nodes.as_deref()),
            pods: Listing::from(self.pods.as_deref()),
            resource_slices: Listing::from(self.resource_slices.as_deref()),
            resource_claims: Listing::from(self.resource_claims.as_deref()),
            device_classes: Listing::from(self.device_classes.as_deref()),
            device_taint_rules: Listing::from(self.device_taint_rules.as_deref()),
        })
    }
}

/// The inventory of a case as JSON: of its cluster, or of the fleet if it has `clusters`.
pub fn inventory_of(case: &[u8]) -> Result<Value, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Fleet {
        clusters: Option<Vec<NamedLists>>,
    }
    let Some(clusters) = serde_json::from_slice::<Fleet>(case)?.clusters else {
        return Ok(serde_json::to_value(serde_json::from_slice::<Lists>(case)?.inventory())?);
    };
    let inventories: Vec<ClusterInventory> =
        clusters.iter().map(|cluster| cluster.lists.inventory()).collect();
    let members: Vec<FleetMember<'_>> = clusters
        .iter()
        .zip(&inventories)
        .map(|(cluster, inventory)| FleetMember {
            name: &cluster.context,
            uid: cluster.kube_system_uid.as_deref(),
            reading: Reading::Read { inventory, observed_at: None },
        })
        .collect();
    Ok(serde_json::to_value(fleet(&members))?)
}
