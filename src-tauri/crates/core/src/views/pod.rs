//! One pod, as a row: what kubectl shows, what it asks for, and why it waits.
//!
//! Deliberately absent: containers' environment, volumes, and anything else that may hold a secret.

use jiff::Timestamp;

use super::pod_status::{Health, print};
use super::pod_wire;
use super::text::{filled, instant, kept, sentence};
use crate::inventory::input::{self, Resources};

/// A pod.
#[derive(Debug, Clone, PartialEq)]
pub struct PodRow {
    /// Namespace.
    pub namespace: Box<str>,
    /// Name.
    pub name: Box<str>,
    /// Status as kubectl prints it (`Running`, `CrashLoopBackOff`, `Init:0/2`, ...).
    pub status: Box<str>,
    /// How to colour the status.
    pub health: Health,
    /// Ready containers.
    pub ready: u32,
    /// Containers, sidecars included.
    pub containers: u32,
    /// Restarts.
    pub restarts: u32,
    /// When a container last ended before it was restarted.
    pub last_restart: Option<Timestamp>,
    /// Node.
    pub node: Option<Box<str>>,
    /// Address.
    pub ip: Option<Box<str>>,
    /// `Kind/name` of the controller.
    pub owner: Option<Box<str>>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Extended resources that it effectively asks for; which of them are accelerators, [`crate::inventory`] knows.
    pub devices: Resources,
    /// Images of its containers, in order, none twice.
    pub images: Box<[Box<str>]>,
    /// Why it waits or failed, in the cluster's words.
    pub reason: Option<Box<str>>,
}

impl PodRow {
    /// Reads an item of a pod list.
    ///
    /// # Errors
    /// The parser's, where the item is no pod. Its text may quote the item; it is for counting, not for showing.
    pub fn from_item(item: &[u8]) -> Result<Self, serde_json::Error> {
        let wire: pod_wire::Pod<'_> = serde_json::from_slice(item)?;
        let requests = serde_json::from_slice::<input::Pod>(item)?.requests;
        let (metadata, spec, status) =
            (wire.metadata, wire.spec.unwrap_or_default(), wire.status.unwrap_or_default());
        let printed = print(&spec, &status, filled(&metadata.deletion_timestamp).is_some());
        let health = Health::of(&printed);
        let reason = match health {
            Health::Good | Health::Done => None,
            Health::Waiting | Health::Bad => printed.message.or_else(|| said(&status)),
        };
        Ok(Self {
            namespace: kept(&metadata.namespace).unwrap_or_default(),
            name: metadata.name.boxed(),
            status: printed.status.into(),
            health,
            ready: printed.ready,
            containers: printed.containers,
            restarts: printed.restarts,
            last_restart: printed.last_restart,
            node: kept(&spec.node_name),
            ip: kept(&status.pod_ip),
            owner: metadata.owner_references.as_deref().and_then(controller),
            created: instant(&metadata.creation_timestamp),
            devices: requests,
            images: images(&spec),
            reason,
        })
    }
}

fn controller(owners: &[pod_wire::Owner<'_>]) -> Option<Box<str>> {
    let owner = owners.iter().find(|owner| owner.controller == Some(true))?;
    Some(format!("{}/{}", filled(&owner.kind)?, filled(&owner.name)?).into())
}

fn images(spec: &pod_wire::Spec<'_>) -> Box<[Box<str>]> {
    let mut images: Vec<Box<str>> = Vec::new();
    for image in spec.containers().iter().filter_map(|container| kept(&container.image)) {
        if !images.contains(&image) {
            images.push(image);
        }
    }
    images.into()
}

/// What the cluster says about the pod as a whole: the kubelet's message, else that of the scheduler.
fn said(status: &pod_wire::Status<'_>) -> Option<Box<str>> {
    let unscheduled = |condition: &&pod_wire::Condition<'_>| {
        filled(&condition.kind) == Some("PodScheduled") && filled(&condition.status) == Some("False")
    };
    let scheduler = || status.conditions().iter().find(unscheduled).and_then(|c| filled(&c.message));
    filled(&status.message).or_else(scheduler).and_then(|text| sentence(text, 300))
}

#[cfg(test)]
#[path = "pod_tests.rs"]
mod tests;
