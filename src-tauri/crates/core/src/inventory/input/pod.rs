//! One pod, as the inventory needs it: who it is, where it runs, and the devices it asks for or shares.
//!
//! The requests of the containers are folded into the pod's effective request while parsing, so a row is small however
//! many containers the pod has.

use jiff::Timestamp;

use super::lenient::Faults;
use super::table::Resources;
use crate::inventory::name::Name;

/// A pod of the core/v1 API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    /// `metadata.namespace`.
    pub namespace: Name,
    /// `metadata.name`; empty when the item has none.
    pub name: Name,
    /// `spec.nodeName`: the node that the pod is bound to.
    pub node: Option<Name>,
    /// `status.phase`.
    pub phase: Phase,
    /// `spec.priority`; negative marks filler that any other pod may evict.
    pub priority: Option<i32>,
    /// When the pod started, else when it was created.
    pub since: Option<Timestamp>,
    /// `metadata.deletionTimestamp` is set: the pod is ending and still holds its devices.
    pub terminating: bool,
    /// The kubelet rejected the pod although the scheduler had bound it (`UnexpectedAdmissionError`).
    pub rejected: bool,
    /// The controller that owns the pod.
    pub owner: Option<Owner>,
    /// Effective request of extended resources, without those that a generated claim backs.
    pub requests: Resources,
    /// Names of the resource claims that the pod uses, in its own namespace.
    pub claims: Box<[Name]>,
    /// Why the pod is not scheduled, where the scheduler said so.
    pub scheduling: Option<Box<Scheduling>>,
    /// Shares of a device that are written in annotations, not in requests.
    pub sharing: Option<Box<Sharing>>,
    /// Ids of held devices that the kubelet reports as unhealthy (KEP-4680).
    pub unhealthy_devices: Box<[Box<str>]>,
    /// Fields that could not be read.
    pub faults: Faults,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Phase {
    /// Accepted, not all containers run yet.
    Pending,
    /// At least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly; also evicted and rejected pods.
    Failed,
    /// The node does not report, or the phase is missing.
    #[default]
    Unknown,
}

/// What a pod does to the devices it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Bound to a node and not ended: it holds its devices.
    Held,
    /// Not bound yet: it waits for them.
    Waiting,
    /// Ended: it holds nothing, whatever its spec still says.
    Ended,
}

/// The controlling owner of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Owner {
    /// Kind, such as `Job` or `ReplicaSet`.
    pub kind: Name,
    /// Name.
    pub name: Name,
}

/// The `PodScheduled` condition of a pod that is not scheduled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduling {
    /// `Unschedulable` or `SchedulingGated`.
    pub reason: Option<Box<str>>,
    /// The scheduler's sentence.
    pub message: Option<Box<str>>,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// A share of a device that a scheduler extension keeps outside the resource requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sharing {
    /// KAI and Run:ai: the groups (one per card) that the pod belongs to; the reservation pod of the card has the same.
    pub groups: Box<[Name]>,
    /// KAI and Run:ai: the pod is a sharer of its group, not the reservation.
    pub sharer: bool,
    /// Part of one card, as it is written: `0.5`.
    pub fraction: Option<Name>,
    /// Memory of one card in MiB.
    pub memory_mib: Option<i64>,
    /// HAMi: the allocation record, `uuid,type,memMiB,cores:;`.
    pub allocation: Option<Box<str>>,
}

impl Pod {
    /// What the pod does to the devices it asks for. Bound pods hold them in every phase but the two final ones:
    /// `Pending` while images are pulled, `Unknown` while the node is away, and while they are being deleted.
    pub fn hold(&self) -> Hold {
        match self.phase {
            Phase::Succeeded | Phase::Failed => Hold::Ended,
            _ if self.node.is_some() => Hold::Held,
            _ => Hold::Waiting,
        }
    }

    /// Whether any other pod may evict this one: its priority is below zero.
    pub fn is_reclaimable(&self) -> bool {
        self.priority.is_some_and(|priority| priority < 0)
    }
}
