//! The inventory of one node: a pure function of the node, its pods, and the DRA pools on it.
//!
//! A change to one pod changes one node; a caller that keeps the others recomputes this one only and adds up again.

use serde::Serialize;

use super::conditions::{self, Verdict};
use super::input::{Condition, Node, Pod, Taint};
use super::labels;
use super::load::Load;
use super::name::Name;
use super::plugin;
use super::pool::{Pool, Source};
use super::provider;
use super::topology::Topology;
use super::warnings::{self, Severity, Warning};

/// Pods that the kubelet rejected on one node, from which on something is wrong with its devices
/// (pytorch/ci-infra#1058: a dead card can leave a node ready, with full allocatable, rejecting every pod).
const REJECTIONS: usize = 3;

/// The inventory of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeInventory {
    /// Name of the node, unique within its cluster only.
    pub name: Name,
    /// Cloud or distribution.
    pub provider: Option<Name>,
    /// Region.
    pub region: Option<Name>,
    /// Zone.
    pub zone: Option<Name>,
    /// Instance type.
    pub instance_type: Option<Name>,
    /// `Ready` is `True`.
    pub ready: bool,
    /// Not cordoned.
    pub schedulable: bool,
    /// Stands for capacity of another cluster.
    pub r#virtual: bool,
    /// Place in the fabric.
    #[serde(skip_serializing_if = "Topology::is_unknown")]
    pub topology: Topology,
    /// Taints: pods need a toleration; the node's cards count all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<TaintText>,
    /// Why free units are not usable, the strongest reason first. Empty: they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<Name>,
    /// Conditions in trouble: those about accelerators, and pressures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Trouble>,
    /// Pools on the node: those of device plugins, then those of DRA, each by name.
    pub accelerators: Vec<Pool>,
    /// Warnings about this node; the cluster's list has them as well.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// A taint, as `kubectl` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaintText(Name);

/// A condition in trouble.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// Type of the condition.
    pub r#type: Name,
    /// Status of it.
    pub status: Name,
    /// One-word reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Name>,
    /// Sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Name>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<jiff::Timestamp>,
}

/// The inventory of one node. `pods` are those bound to it, `None` when pods cannot be listed; `dra` are the pools of DRA
/// drivers on it.
pub fn node_inventory<'p>(
    node: &Node,
    pods: Option<impl Iterator<Item = &'p Pod> + Clone>,
    dra: Vec<Pool>,
) -> NodeInventory {
    let mut notes = Vec::new();
    let provider = provider::provider(node);
    let load = pods.map(Load::of);
    let rejected = load.as_ref().map_or(0, |load| load.rejected);
    let mut pools = plugin::pools(node, provider, load, &mut notes);
    count_cards_once(&mut pools, dra, node, &mut notes);

    let is_virtual = provider::is_virtual(node);
    let unusable = unusable(node, is_virtual);
    for pool in &mut pools {
        if is_virtual && pool.physical.is_some() {
            pool.physical = Some(0);
        }
        pool.judge(&unusable);
    }
    note_labels(node, &pools, &mut notes);
    note_state(node, &pools, is_virtual, &mut notes);
    if !pools.is_empty() && rejected >= REJECTIONS {
        let text = "The kubelet rejects pods that the scheduler bound here: a device may be dead.";
        notes.push(Warning::of_node(&node.name, "pods-rejected", Severity::Error, text));
    }
    warnings::settle(&mut notes);
    let owned = |text: Option<&str>| text.map(Name::from);
    NodeInventory {
        name: node.name.clone(),
        provider: owned(provider),
        region: owned(provider::region(node, provider)),
        zone: owned(provider::zone(&node.labels)),
        instance_type: owned(provider::instance_type(&node.labels)),
        ready: conditions::is_ready(node),
        schedulable: !node.unschedulable,
        r#virtual: is_virtual,
        topology: Topology::of(&node.labels),
        taints: node.taints.iter().map(TaintText::of).collect(),
        unusable,
        conditions: troubles(node),
        accelerators: pools,
        warnings: notes,
    }
}

/// Adds the DRA pools. Where device plugin and DRA driver of one vendor both advertise, they speak of the same cards
/// (KAI#1177, aicr#332): these are counted once, and neither ledger sees what the other gave away.
fn count_cards_once(pools: &mut Vec<Pool>, dra: Vec<Pool>, node: &Node, notes: &mut Vec<Warning>) {
    for mut pool in dra {
        let same = |other: &&Pool| {
            other.source == Source::DevicePlugin
                && other.vendor == pool.vendor
                && other.is_classified()
                && other.units.capacity.is_none_or(|units| units > 0)
        };
        if pool.vendor.is_some() && pools.iter().any(|other| same(&other)) {
            let mut by_plugin = pools.iter().filter(same).filter_map(|other| other.physical).sum::<i64>();
            let by_dra =
                pools.iter().filter(|other| other.source == Source::Dra && other.vendor == pool.vendor);
            by_plugin -= by_dra.map(|other| other.overlap).sum::<i64>();
            if let Some(cards) = &mut pool.physical {
                pool.overlap = (*cards).min(by_plugin.max(0));
                *cards -= pool.overlap;
            }
            notes.push(Warning::of_node(
                &node.name,
                "dra-and-device-plugin",
                Severity::Warning,
                "A device plugin and a DRA driver advertise the same cards, and neither sees what the other gave away: fewer \
                 are free than each of them says.",
            ));
        }
        pools.push(pool);
    }
}

/// Why free units of a node are not usable, the strongest reason first. Taints are no reason: dedication is normal.
fn unusable(node: &Node, is_virtual: bool) -> Vec<Name> {
    let mut reasons: Vec<Name> = Vec::new();
    if is_virtual {
        reasons.push("virtual-node".into());
    }
    if !conditions::is_ready(node) {
        reasons.push("node-not-ready".into());
    }
    if node.unschedulable {
        reasons.push("node-cordoned".into());
    }
    let mut hard: Vec<Name> = node
        .conditions
        .iter()
        .filter(|condition| conditions::verdict(condition) == Verdict::Hard)
        .map(|condition| format!("gpu-condition:{}", condition.kind).into())
        .collect();
    hard.sort();
    reasons.extend(hard);
    if hyperpod_health(node).is_some() {
        reasons.push("node-health".into());
    }
    reasons
}

/// SageMaker HyperPod marks nodes that its health checks withdrew.
fn hyperpod_health(node: &Node) -> Option<&str> {
    node.labels
        .get("sagemaker.amazonaws.com/node-health-status")
        .filter(|status| status.starts_with("Unschedulable"))
}

fn note_labels(node: &Node, pools: &[Pool], notes: &mut Vec<Warning>) {
    let advertised: Vec<&str> = pools.iter().filter_map(|pool| pool.vendor).collect();
    for vendor in labels::promised_vendors(node, &advertised) {
        let text = format!(
            "Labels promise {vendor} accelerators and none is advertised: driver or device plugin is not up."
        );
        notes.push(Warning::of_node(&node.name, "labelled-but-no-resource", Severity::Warning, text));
    }
    let mut vendors: Vec<&str> =
        pools.iter().filter(|pool| pool.is_classified()).filter_map(|pool| pool.vendor).collect();
    vendors.sort_unstable();
    vendors.dedup();
    if vendors.len() > 1 {
        let text = format!("Accelerators of several vendors on one node: {}.", vendors.join(", "));
        notes.push(Warning::of_node(&node.name, "mixed-vendors", Severity::Info, text));
    }
}

fn note_state(node: &Node, pools: &[Pool], is_virtual: bool, notes: &mut Vec<Warning>) {
    let mut note =
        |code: String, severity, text: String| notes.push(Warning::of_node(&node.name, code, severity, text));
    if !node.faults.fields().is_empty() {
        let text = format!("Fields that cannot be read: {}.", node.faults.fields().join(", "));
        note("node-malformed".into(), Severity::Warning, text);
    }
    for condition in &node.conditions {
        let severity = match conditions::verdict(condition) {
            Verdict::Fine => continue,
            Verdict::Soft => Severity::Warning,
            Verdict::Hard => Severity::Error,
        };
        let text = condition
            .message
            .as_deref()
            .or(condition.reason.as_deref())
            .unwrap_or("The node reports trouble.");
        note(format!("gpu-condition:{}", condition.kind), severity, text.to_owned());
    }
    if pools.is_empty() {
        return;
    }
    if is_virtual {
        let text = "The node stands for another cluster's capacity: its cards are counted there.";
        note("virtual-node".into(), Severity::Info, text.into());
    }
    if !conditions::is_ready(node) {
        note(
            "node-not-ready".into(),
            Severity::Error,
            "The node is not ready: its free cards are not usable.".into(),
        );
    }
    if node.unschedulable {
        note("node-cordoned".into(), Severity::Warning, cordon(node));
    }
    if let Some(status) = hyperpod_health(node) {
        note("node-health".into(), Severity::Error, format!("HyperPod reports the node as {status}."));
    }
    for pressure in conditions::pressures(node) {
        note(
            format!("node-pressure:{pressure}"),
            Severity::Warning,
            format!("The kubelet reports {pressure}."),
        );
    }
    if has_unhealthy_label(node) {
        let text = "The metrics exporter labels a card of the node as unhealthy.";
        note("gpu-label-unhealthy".into(), Severity::Error, text.into());
    }
    if node.labels.get("nvidia.com/mig.config.state") == Some("failed") {
        note("mig-config-failed".into(), Severity::Error, "The last change of the MIG layout failed.".into());
    }
}

/// Who cordoned the node and why, where NVSentinel left its labels.
fn cordon(node: &Node) -> String {
    let mut text = String::from("The node is cordoned: its free cards are not usable.");
    let said =
        ["k8saas.nvidia.com/cordon-by", "k8saas.nvidia.com/cordon-reason"].map(|key| node.labels.get(key));
    if let [Some(by), reason] = said {
        text += &format!(" Cordoned by {by}");
        text += &reason.map(|reason| format!(": {reason}.")).unwrap_or_else(|| ".".to_owned());
    }
    text
}

/// AMD's metrics exporter marks bad cards on the node: `<prefix>.gpu.<id>.state=unhealthy`.
fn has_unhealthy_label(node: &Node) -> bool {
    node.labels
        .iter()
        .any(|(key, value)| value == "unhealthy" && key.ends_with(".state") && key.contains("gpu"))
}

fn troubles(node: &Node) -> Vec<Trouble> {
    let is_trouble = |condition: &&Condition| {
        conditions::verdict(condition) != Verdict::Fine
            || conditions::pressures(node).any(|pressure| *condition.kind == *pressure)
            || (&*condition.kind == "Ready" && &*condition.status != "True")
    };
    let text = |text: &Option<Box<str>>| text.as_deref().map(Name::from);
    node.conditions
        .iter()
        .filter(is_trouble)
        .map(|condition| Trouble {
            r#type: condition.kind.as_ref().into(),
            status: condition.status.as_ref().into(),
            reason: text(&condition.reason),
            message: text(&condition.message),
            since: condition.since,
        })
        .collect()
}

impl TaintText {
    fn of(taint: &Taint) -> Self {
        let value = taint.value.as_deref().filter(|value| !value.is_empty());
        Self(match value {
            Some(value) => format!("{}={value}:{}", taint.key, taint.effect).into(),
            None => format!("{}:{}", taint.key, taint.effect).into(),
        })
    }
}
