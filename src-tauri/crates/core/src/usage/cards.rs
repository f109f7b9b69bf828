//! Samples, put together card by card.
//!
//! Invariants: what was not measured is `None` and never 0; one card is one row, however many pods or series share it
//! (dcgm-exporter#340, #353); order of samples is irrelevant.
//!
//! Deliberately absent: any judgement over time beyond the peak that Prometheus was asked for.

use std::collections::BTreeMap;

use super::exposition::Sample;
use super::metrics::{Quantity, is_amd, measured, quantity};
use crate::inventory::NodeInventory;
use crate::inventory::names::Kind;
use crate::kubeconfig::printable;

/// Pods that are named for one card; a time-sliced card has many more.
const HOLDERS: usize = 16;
/// Below this share of time, in percent, a card does nothing that its holder would miss.
const IDLE_BELOW: f64 = 5.0;

/// One card or MIG instance as an exporter measured it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CardUse {
    /// Its node; `None` where the series do not say.
    pub node: Option<Box<str>>,
    /// UUID, else serial number, else the index on the node.
    pub id: Box<str>,
    /// Index on the node.
    pub index: Option<Box<str>>,
    /// Model as the exporter writes it.
    pub model: Option<Box<str>>,
    /// MIG profile or partition of the instance; `None` for a whole card.
    pub instance: Option<Box<str>>,
    /// Pods that the exporter names, at most sixteen, in order.
    pub holders: Vec<UseHolder>,
    /// Whether a pod holds it, by the exporter's labels, else by the inventory of the node; `None` when neither says.
    pub held: Option<bool>,
    /// Share of time in use, percent.
    pub busy: Option<f64>,
    /// The highest share over the last while, percent. Only Prometheus remembers.
    pub peak: Option<f64>,
    /// Memory in use, MiB.
    pub memory_used: Option<f64>,
    /// All of the memory, MiB.
    pub memory_total: Option<f64>,
    /// Power, W.
    pub power: Option<f64>,
    /// Temperature, °C.
    pub temperature: Option<f64>,
    /// Code of the last XID error. `Some(0)`: none.
    pub xid: Option<u32>,
    /// The exporter's own verdict.
    pub healthy: Option<bool>,
    memory_free: Option<f64>,
    memory_reserved: Option<f64>,
}

/// A pod on a card.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UseHolder {
    /// Namespace.
    pub namespace: Box<str>,
    /// Pod.
    pub pod: Box<str>,
    /// Container.
    pub container: Option<Box<str>>,
}

impl CardUse {
    /// Held by a pod and doing nothing; `None` when either cannot be known.
    pub fn is_idle(&self) -> Option<bool> {
        let busy = match (self.busy, self.peak) {
            (None, None) => return None,
            (now, peak) => now.unwrap_or(0.0).max(peak.unwrap_or(0.0)),
        };
        Some(self.held? && busy < IDLE_BELOW)
    }
}

/// Where samples come from.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'n> {
    /// The exporter on this node: labels speak of workloads.
    Exporter {
        /// The node.
        node: Option<&'n str>,
    },
    /// Prometheus: without `honor_labels` the workload's labels are renamed to `exported_*`, and the plain ones are the
    /// exporter's own.
    Prometheus,
}

/// Node, id and instance.
type Key = (Option<Box<str>>, Box<str>, Option<Box<str>>);

/// Cards by node, id and instance.
#[derive(Debug, Default)]
pub struct Cards(BTreeMap<Key, CardUse>);

impl Cards {
    /// Adds one sample. Samples of other metrics, and of no card, are passed over.
    pub fn add(&mut self, sample: &Sample<'_>, origin: Origin<'_>) {
        self.fold(sample, origin, false);
    }

    /// Adds the peak over a while of a metric of activity.
    pub fn add_peak(&mut self, sample: &Sample<'_>, origin: Origin<'_>) {
        self.fold(sample, origin, true);
    }

    fn fold(&mut self, sample: &Sample<'_>, origin: Origin<'_>, peak: bool) {
        let Some(quantity) = quantity(sample.metric) else { return };
        let label = |names: &[&str]| names.iter().find_map(|name| sample.label(name)).map(owned);
        let index = label(&["gpu", "gpu_id"]);
        let Some(id) = label(&["UUID", "uuid", "gpu_uuid", "serial_number"]).or_else(|| index.clone()) else {
            return;
        };
        let node = match origin {
            Origin::Exporter { node: Some(node) } => Some(owned(node)),
            _ => label(&["node", "Hostname", "hostname"]),
        };
        let partition =
            label(&["gpu_partition_id"]).filter(|partition| is_amd(sample.metric) && &**partition != "0");
        let instance = label(&["GPU_I_PROFILE"])
            .map(|profile| {
                label(&["GPU_I_ID"]).map_or_else(|| profile.clone(), |id| format!("{profile} #{id}").into())
            })
            .or_else(|| partition.as_ref().map(|partition| format!("partition {partition}").into()));
        let card = self.0.entry((node.clone(), id.clone(), instance.clone())).or_default();
        (card.node, card.id, card.instance) = (node, id, instance);
        card.index = card.index.take().or(index);
        card.model = card.model.take().or_else(|| label(&["modelName", "card_model", "card_series"]));
        if let Some(holder) = holder(sample, origin) {
            card.hold(holder);
        }
        // Partitions of an AMD card other than its first report 0 for what only the card knows.
        let said = measured(sample.value).filter(|value| partition.is_none() || *value > 0.0);
        if let Some(value) = said {
            card.take(quantity, value, peak);
        }
    }

    /// The cards, by node, id and instance.
    pub fn into_cards(self) -> Vec<CardUse> {
        let finish = |mut card: CardUse| {
            if card.memory_total.is_none()
                && let (Some(used), Some(free)) = (card.memory_used, card.memory_free)
            {
                card.memory_total = Some(used + free + card.memory_reserved.unwrap_or(0.0));
            }
            card.held = (!card.holders.is_empty()).then_some(true);
            card
        };
        self.0.into_values().map(finish).collect()
    }
}

impl CardUse {
    fn hold(&mut self, holder: UseHolder) {
        if let Err(at) = self.holders.binary_search(&holder)
            && (self.holders.len() < HOLDERS || at < HOLDERS)
        {
            self.holders.insert(at, holder);
            self.holders.truncate(HOLDERS);
        }
    }

    /// Of several series of one card the highest counts: they are copies, or one of them is stale.
    fn take(&mut self, quantity: Quantity, value: f64, peak: bool) {
        let most =
            |field: &mut Option<f64>, value: f64| *field = Some(field.map_or(value, |old| old.max(value)));
        match quantity {
            Quantity::Busy if value <= 100.0 => {
                most(if peak { &mut self.peak } else { &mut self.busy }, value)
            }
            Quantity::Engine if value <= 1.0 => {
                most(if peak { &mut self.peak } else { &mut self.busy }, value * 100.0);
            }
            Quantity::Busy | Quantity::Engine => {}
            Quantity::MemoryUsed => most(&mut self.memory_used, value),
            Quantity::MemoryFree => most(&mut self.memory_free, value),
            Quantity::MemoryReserved => most(&mut self.memory_reserved, value),
            Quantity::MemoryTotal => most(&mut self.memory_total, value),
            Quantity::Power => most(&mut self.power, value),
            Quantity::Temperature => most(&mut self.temperature, value),
            Quantity::Xid => {
                // Below 2^31 by `measured`; codes are whole numbers.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let code = value as u32;
                self.xid = Some(self.xid.map_or(code, |old| old.max(code)));
            }
            Quantity::Health => self.healthy = Some(self.healthy.unwrap_or(true) && value >= 1.0),
        }
    }
}

/// The pod that a series names.
fn holder(sample: &Sample<'_>, origin: Origin<'_>) -> Option<UseHolder> {
    let of = |pod: &str, namespace: &str, container: &str| {
        Some(UseHolder {
            pod: owned(sample.label(pod)?),
            namespace: owned(sample.label(namespace).unwrap_or_default()),
            container: sample.label(container).map(owned),
        })
    };
    let renamed = of("exported_pod", "exported_namespace", "exported_container");
    match origin {
        Origin::Exporter { .. } => renamed.or_else(|| of("pod", "namespace", "container")),
        // A plain label may be the scraped exporter's own name.
        Origin::Prometheus => renamed.or_else(|| {
            of("pod", "namespace", "container").filter(|holder| !holder.pod.contains("exporter"))
        }),
    }
}

/// Says of cards that no pod was named for whether they are held, as far as the inventory of their node can tell: all
/// of its devices are, or none is.
pub fn judge_by_inventory<'n>(cards: &mut [CardUse], nodes: impl IntoIterator<Item = &'n NodeInventory>) {
    let verdicts: BTreeMap<&str, bool> = nodes
        .into_iter()
        .filter_map(|node| {
            let devices = || node.accelerators.iter().filter(|pool| pool.kind != Kind::Unclassified);
            let requested: Option<i64> = devices().map(|pool| pool.units.requested).sum();
            let free: Option<i64> = devices().map(|pool| pool.units.free).sum();
            match (requested?, free?) {
                (0, _) => Some((&*node.name, false)),
                (_, 0) => Some((&*node.name, true)),
                _ => None,
            }
        })
        .collect();
    for card in cards.iter_mut().filter(|card| card.held.is_none()) {
        card.held = card.node.as_deref().and_then(|node| verdicts.get(node)).copied();
    }
}

/// Texts of a cluster's services are shown, so they are bounded and made printable.
fn owned(text: &str) -> Box<str> {
    printable(text).into_boxed_str()
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
