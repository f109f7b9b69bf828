//! Demand: what pods without a node wait for, how much, since when, and why.
//!
//! A pod without a node holds nothing, in whatever phase it says it is; gated pods wait as well. Demand through claims is
//! listed by device class, beside the totals by resource name: a class is not a resource.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Serialize;

use super::input::{DeviceClass, Hold, Owner, Pod, ResourceClaim};
use super::name::Name;
use super::names;
use super::quantity::Count;
use super::warnings::{self, Warning};

/// A pod that waits for accelerators.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Namespace of the pod.
    pub namespace: Name,
    /// The pod.
    pub pod: Name,
    /// Units by resource name; `None` when the request cannot be read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<Name, Option<i64>>,
    /// Devices by device class, of claims that have no allocation yet; `None` for all that match.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<Name, Option<i64>>,
    /// `Unschedulable`, `SchedulingGated`, or what else the scheduler says; `None` when it has not said anything yet.
    pub reason: Option<Name>,
    /// The scheduler's sentence.
    pub message: Option<Name>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Priority of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The controller behind the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
}

/// The pods that wait for accelerators, by namespace and name.
pub fn waiting(
    pods: &[Pod],
    claims: Option<&[ResourceClaim]>,
    classes: Option<&[DeviceClass]>,
    notes: &mut Vec<Warning>,
) -> Vec<Waiting> {
    let bridged: Vec<&str> = classes.iter().copied().flatten().filter_map(bridge).collect();
    let open: HashMap<(&str, &str), &ResourceClaim> = claims
        .iter()
        .copied()
        .flatten()
        .filter(|claim| !claim.is_allocated)
        .map(|claim| ((&*claim.namespace, &*claim.name), claim))
        .collect();
    let mut waiting: Vec<Waiting> = pods
        .iter()
        .filter(|pod| pod.hold() == Hold::Waiting)
        .filter_map(|pod| {
            let is_device = |name: &Name| names::device(name).is_some() || bridged.contains(&&**name);
            let asked = pod.requests.iter().filter(|(name, count)| is_device(name) && count.units != Some(0));
            let units: BTreeMap<Name, Option<i64>> = asked
                .map(|(name, count)| {
                    note_flaw(name, count, notes);
                    (name.clone(), count.units)
                })
                .collect();
            let devices = devices(pod, &open);
            (!units.is_empty() || !devices.is_empty()).then(|| Waiting::of(pod, units, devices))
        })
        .collect();
    waiting.sort_by(|a, b| (&a.namespace, &a.pod).cmp(&(&b.namespace, &b.pod)));
    waiting
}

/// Units waited for, by resource name; `None` where one of the requests cannot be read.
pub fn totals(waiting: &[Waiting]) -> BTreeMap<Name, Option<i64>> {
    let mut totals: BTreeMap<Name, Option<i64>> = BTreeMap::new();
    for (name, units) in waiting.iter().flat_map(|waiting| &waiting.units) {
        let sum = totals.entry(name.clone()).or_insert(Some(0));
        *sum = sum.zip(*units).map(|(sum, units)| sum.saturating_add(units));
    }
    totals
}

/// The resource name that stands for a class of accelerators (KEP-5004).
fn bridge(class: &DeviceClass) -> Option<&str> {
    names::driver(&class.name)?;
    class.extended_resource.as_deref()
}

fn devices(pod: &Pod, open: &HashMap<(&str, &str), &ResourceClaim>) -> BTreeMap<Name, Option<i64>> {
    let mut devices: BTreeMap<Name, Option<i64>> = BTreeMap::new();
    let claims = pod.claims.iter().filter_map(|claim| open.get(&(&*pod.namespace, &**claim)));
    for request in claims.flat_map(|claim| &claim.requests) {
        if names::driver(&request.class).is_some() {
            let sum = devices.entry(request.class.clone()).or_insert(Some(0));
            *sum = sum.zip(request.count).map(|(sum, count)| sum.saturating_add(count));
        }
    }
    devices
}

fn note_flaw(name: &Name, count: Count, notes: &mut Vec<Warning>) {
    if let Some(flaw) = count.flaw {
        let (code, severity, text) = warnings::of_flaw(flaw);
        notes.push(Warning::of_cluster(code, severity, text).about(name));
    }
}

impl Waiting {
    fn of(pod: &Pod, units: BTreeMap<Name, Option<i64>>, devices: BTreeMap<Name, Option<i64>>) -> Self {
        let scheduling = pod.scheduling.as_deref();
        let text = |text: Option<&Box<str>>| text.map(|text| Name::from(&**text));
        Self {
            namespace: pod.namespace.clone(),
            pod: pod.name.clone(),
            units,
            devices,
            reason: text(scheduling.and_then(|said| said.reason.as_ref())),
            message: text(scheduling.and_then(|said| said.message.as_ref())),
            since: scheduling.and_then(|said| said.since).or(pod.since),
            priority: pod.priority,
            owner: pod.owner.clone(),
        }
    }
}
