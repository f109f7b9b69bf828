//! A pool: the devices of one kind on one node (or shared by several), counted.
//!
//! Invariant: a number that cannot be known is `None`, never 0. `free + requested = allocatable` unless more is requested
//! than is allocatable (then `free` is 0), or a claim holds a device that is tainted.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::input::{Owner, Phase};
use super::name::Name;
use super::names::Kind;

/// Who counts the devices of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A device plugin, through the node's status.
    DevicePlugin,
    /// A DRA driver, through resource slices.
    Dra,
}

/// Counts of schedulable units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Units {
    /// Devices that the plugin or driver knows, healthy or not.
    pub capacity: Option<i64>,
    /// Healthy ones. It does not fall when pods take devices.
    pub allocatable: Option<i64>,
    /// Held by pods or claims.
    pub requested: Option<i64>,
    /// Healthy and not held.
    pub free: Option<i64>,
    /// Free, on a node that new pods can land on.
    pub usable_free: Option<i64>,
}

/// The devices of one kind in one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// Who makes the devices; `None` for an unclassified name outside the vendors' domains.
    pub vendor: Option<&'static str>,
    /// How they are made.
    pub kind: Kind,
    /// Resource name, or DRA driver.
    pub resource: Name,
    /// Who counts them.
    pub source: Source,
    /// Model as the source writes it.
    pub model: Option<Name>,
    /// Model for people, from the catalogue.
    pub model_short: Option<&'static str>,
    /// Where the model is written: a label, an annotation or `resourceslice`. With `instance-type` only the short name is
    /// known, and from the type of the machine.
    pub model_origin: Option<&'static str>,
    /// The model covers only a part of the devices: the node mixes models and its labels name one.
    #[serde(skip_serializing_if = "is_false")]
    pub model_partial: bool,
    /// Memory of one unit's device in MiB, as the source writes it: of the slice or partition where it is cut by labels.
    #[serde(rename = "memoryMiB")]
    pub memory_mib: Option<i64>,
    /// Where the memory is written.
    pub memory_origin: Option<&'static str>,
    /// MIG or partition profile of the units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Name>,
    /// Version of the vendor's driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_version: Option<Name>,
    /// Newest CUDA version that the driver supports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda_version: Option<Name>,
    /// How cards are shared, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// What the cards of a partitionable pool can be cut into, by profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<BTreeMap<Name, Partitions>>,
    /// The counts.
    #[serde(flatten)]
    pub units: Units,
    /// Of the requested units, those that any other pod may evict (priority below zero).
    pub reclaimable: Option<i64>,
    /// Cards behind the units. Cards that another pool of the node counts already are not counted again.
    pub physical: Option<i64>,
    /// Cards that another pool of the node counts already.
    #[serde(skip)]
    pub overlap: i64,
    /// Why free units are not usable: how many, by the first reason that holds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub withheld: BTreeMap<Name, i64>,
    /// Who holds units; `None` when pods or claims cannot be listed.
    pub holders: Option<Vec<Holder>>,
}

/// How cards are shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sharing {
    /// `time-slicing`, `mps`, `time-sharing`, `hami`, or `unknown`.
    pub strategy: Name,
    /// Units per device; `None` when nothing says it.
    pub replicas: Option<i64>,
}

/// Devices of one profile that a partitionable pool lists. Listed placements overlap, so they do not add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Partitions {
    /// Placements in the slices.
    pub listed: i64,
    /// Of them, allocated to a claim; `None` when claims cannot be listed.
    pub allocated: Option<i64>,
}

/// Who holds units of a pool: one pod, or one claim with the pods that it is reserved for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Namespace of the pod or claim.
    pub namespace: Name,
    /// The pods. None, for a claim that is allocated but reserved for nobody: held and idle.
    pub pods: Vec<Name>,
    /// The claim, in a DRA pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Name>,
    /// Units held; `None` when the request cannot be read.
    pub units: Option<i64>,
    /// Phase of the pod; of a claim's first pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The pod is being deleted and still holds its devices.
    #[serde(skip_serializing_if = "is_false")]
    pub terminating: bool,
    /// Priority of the pod; the highest of a claim's pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Any other pod may evict the holder.
    #[serde(skip_serializing_if = "is_false")]
    pub reclaimable: bool,
    /// Allocated, reserved for nobody.
    #[serde(skip_serializing_if = "is_false")]
    pub idle: bool,
    /// A held device is unhealthy (KEP-4680).
    #[serde(skip_serializing_if = "is_false")]
    pub unhealthy: bool,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The controller behind the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Groups of sharing pods that the holder reserves cards for (KAI, Run:ai).
    #[serde(skip)]
    pub reservation: Box<[Name]>,
    /// Pods that share the held card: the holder is a reservation on their behalf (KAI, Run:ai), or HAMi's record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sharers: Vec<Sharer>,
}

/// A part of a held card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sharer {
    /// Namespace of the pod.
    pub namespace: Name,
    /// The pod.
    pub pod: Name,
    /// Part of the card, as it is written: `0.5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<Name>,
    /// Memory of the card, in MiB.
    #[serde(rename = "memoryMiB", skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<i64>,
    /// Identity of the card, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Name>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Pool {
    /// A pool of which only the identity is known.
    pub fn new(vendor: Option<&'static str>, kind: Kind, resource: Name, source: Source) -> Self {
        Self {
            vendor,
            kind,
            resource,
            source,
            model: None,
            model_short: None,
            model_origin: None,
            model_partial: false,
            memory_mib: None,
            memory_origin: None,
            profile: None,
            driver_version: None,
            cuda_version: None,
            sharing: None,
            partitions: None,
            units: Units::default(),
            reclaimable: None,
            physical: None,
            overlap: 0,
            withheld: BTreeMap::new(),
            holders: None,
        }
    }

    /// Whether its devices count as cards of a vendor.
    pub fn is_classified(&self) -> bool {
        self.kind != Kind::Unclassified
    }

    /// Settles which free units are usable, given why the place is unusable (first reason first; none: usable).
    pub fn judge(&mut self, reasons: &[Name]) {
        match reasons.first() {
            None => self.units.usable_free = self.units.free,
            Some(reason) => {
                // Nothing is usable here, which is known even where the number of free units is not.
                self.units.usable_free = Some(0);
                if let Some(free) = self.units.free.filter(|free| *free > 0) {
                    self.withheld.insert(reason.clone(), free);
                }
            }
        }
    }
}
