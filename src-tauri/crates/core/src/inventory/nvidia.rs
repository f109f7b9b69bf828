//! Cards behind NVIDIA's resource names.
//!
//! `nvidia.com/gpu` counts cards, or MIG slices under strategy single, or shares; feature discovery (GFD) and GKE say
//! which. GFD's `gpu.count` is the number of devices before sharing: cards, or slices under strategy single. It is
//! preferred over dividing by `gpu.replicas`, which may be 1 although cards are shared (k8s-device-plugin#732) and may
//! even be 0. For cards that are neither cut nor shared the resource is trusted and the label only compared, since it
//! counts a single model (gpu-feature-discovery#27).

use super::cards::{from_hami, inconsistent, shared};
use super::catalogue::{self, MigTable};
use super::input::{Labels, Node};
use super::mig;
use super::name::Name;
use super::names::Kind;
use super::pool::{Pool, Sharing};
use super::warnings::{Severity, Warning};

const PLAIN: &str = "nvidia.com/gpu";

/// Sets the cards of NVIDIA's pools on one node.
pub fn settle(pools: &mut [Pool], node: &Node, notes: &mut Vec<Warning>) {
    if !pools.iter().any(|pool| pool.vendor == Some("nvidia")) {
        return;
    }
    let facts = Facts::of(&node.labels);
    let is_cut = pools.iter().any(|pool| pool.kind == Kind::Mig || is_shared_mig(pool));
    for pool in pools.iter_mut().filter(|pool| pool.vendor == Some("nvidia")) {
        if matches!(pool.kind, Kind::Gpu | Kind::GpuVirtual) && from_hami(pool, node, notes) {
            continue;
        }
        match pool.kind {
            Kind::GpuVirtual => pool.physical = facts.count,
            Kind::Gpu if pool.resource == PLAIN => facts.settle_plain(pool, is_cut, node, notes),
            _ => {}
        }
    }
    count_names_once(pools);
    let is_whole = |pool: &&Pool| pool.vendor == Some("nvidia") && pool.kind == Kind::Gpu;
    let whole = pools.iter().filter(is_whole).filter_map(|pool| pool.physical).sum();
    for pool in pools.iter_mut().filter(|pool| pool.kind == Kind::GpuShared && pool.profile.is_none()) {
        facts.settle_renamed(pool, whole, node, notes);
    }
    if is_cut {
        settle_mixed(pools, &facts, whole, node, notes);
    }
}

fn is_shared_mig(pool: &Pool) -> bool {
    pool.kind == Kind::GpuShared && pool.profile.is_some()
}

/// One set of cards may be counted under several plain names (HAMi, Volcano and Aliyun beside the device plugin): only
/// the largest number counts.
fn count_names_once(pools: &mut [Pool]) {
    let mut same: Vec<&mut Pool> = pools
        .iter_mut()
        .filter(|pool| pool.vendor == Some("nvidia") && matches!(pool.kind, Kind::Gpu | Kind::GpuVirtual))
        .filter(|pool| pool.physical.is_some())
        .collect();
    let most = same.iter().filter_map(|pool| pool.physical).max();
    // The device plugin's own name first, where it is among the largest.
    same.sort_by_key(|pool| (pool.physical != most, pool.resource != PLAIN));
    for pool in same.iter_mut().skip(1) {
        pool.physical = Some(0);
    }
}

/// What labels say about how cards are cut and shared.
struct Facts<'n> {
    /// GFD: devices of the labelled model before sharing.
    count: Option<i64>,
    /// GFD or GKE: units per device, at least 1.
    replicas: i64,
    strategy: Option<&'n str>,
    /// Product or GKE labels say that devices are shared.
    is_shared: bool,
    /// The profile of every slice, under MIG strategy single.
    single_profile: Option<&'n str>,
}

impl<'n> Facts<'n> {
    fn of(labels: &'n Labels) -> Self {
        let number = |key| labels.get(key).and_then(|value| value.parse::<i64>().ok());
        let product = labels.get("nvidia.com/gpu.product").unwrap_or_default();
        let clients = number("cloud.google.com/gke-max-shared-clients-per-gpu").unwrap_or(1);
        let replicas = number("nvidia.com/gpu.replicas").unwrap_or(1).max(clients).max(1);
        let strategy = ["nvidia.com/gpu.sharing-strategy", "cloud.google.com/gke-gpu-sharing-strategy"]
            .into_iter()
            .filter_map(|key| labels.get(key))
            .find(|strategy| *strategy != "none");
        let cut = product
            .strip_suffix("-SHARED")
            .unwrap_or(product)
            .split_once("-MIG-")
            .map(|(_, profile)| profile);
        Self {
            count: number("nvidia.com/gpu.count").filter(|count| *count > 0),
            replicas,
            strategy,
            is_shared: product.ends_with("-SHARED") || replicas > 1,
            single_profile: cut.or_else(|| labels.get("cloud.google.com/gke-gpu-partition-size")),
        }
    }

    fn settle_plain(&self, pool: &mut Pool, is_cut: bool, node: &Node, notes: &mut Vec<Warning>) {
        let Some(units) = pool.units.capacity else {
            return;
        };
        let differs = self.count.is_some_and(|count| count != units);
        let devices = if self.is_shared || (self.strategy.is_some() && differs) {
            self.share(pool, units, 0, node, notes)
        } else {
            // Beside MIG pools the label counts their cards as well; the comparison is made there.
            if differs && !is_cut && units > 0 {
                pool.model_partial = true;
                notes.push(mismatch(node, &format!(
                    "The labels speak of {} devices and the node advertises {units}; the model may cover only some.",
                    self.count.unwrap_or_default()
                )));
            }
            Some(units)
        };
        pool.physical = match self.single_profile {
            None => devices,
            Some(profile) => {
                pool.profile = Some(profile.into());
                let cards = devices.and_then(|slices| mig::cards(table_of(pool, None), profile, slices));
                if cards.is_none() {
                    notes.push(unknown_profile(node, &pool.resource, profile));
                }
                cards
            }
        };
    }

    fn settle_renamed(&self, pool: &mut Pool, whole: i64, node: &Node, notes: &mut Vec<Warning>) {
        if let Some(units) = pool.units.capacity {
            pool.physical = self.share(pool, units, whole, node, notes);
        }
    }

    /// Devices behind shares; `whole` of the labelled ones are not shared.
    fn share(
        &self,
        pool: &mut Pool,
        units: i64,
        whole: i64,
        node: &Node,
        notes: &mut Vec<Warning>,
    ) -> Option<i64> {
        notes.push(shared(node));
        let labelled = self.count.map(|count| (count - whole).max(0));
        let agrees = labelled.is_none_or(|devices| devices.saturating_mul(self.replicas) == units);
        if !agrees {
            notes.push(inconsistent(
                node,
                &format!(
                    "Labels: {} devices shared {} ways. The node advertises {units} shares.",
                    labelled.unwrap_or_default(),
                    self.replicas
                ),
            ));
        }
        let divided = (self.replicas > 1).then(|| mig::ceil(units, self.replicas)).flatten();
        let devices = labelled.or(divided);
        pool.sharing = Some(Sharing {
            strategy: self.strategy.unwrap_or("unknown").into(),
            replicas: if agrees && self.replicas > 1 {
                Some(self.replicas)
            } else {
                devices.filter(|devices| *devices > 0 && units % devices == 0).map(|devices| units / devices)
            },
        });
        devices
    }
}

/// MIG strategy mixed: a pool per profile, beside whole cards under the plain name.
fn settle_mixed(pools: &mut [Pool], facts: &Facts<'_>, whole: i64, node: &Node, notes: &mut Vec<Warning>) {
    let mut cut: Vec<&mut Pool> =
        pools.iter_mut().filter(|pool| pool.kind == Kind::Mig || is_shared_mig(pool)).collect();
    let memory = node.labels.get("nvidia.com/gpu.memory").and_then(|mib| mib.parse().ok());
    let table = cut.first().and_then(|pool| table_of(pool, memory));
    let mut instances: Vec<(Name, Option<i64>)> = Vec::new();
    for pool in &mut cut {
        let profile = pool.profile.clone().unwrap_or_default();
        let count = instances_of(pool, &profile, node, notes);
        instances.push((profile, count));
    }
    let known: Option<Vec<(&str, i64)>> =
        instances.iter().map(|(profile, count)| Some((profile.as_ref(), (*count)?))).collect();
    let least = known.as_ref().and_then(|known| mig::least_cards(table, known));
    let any = instances.iter().any(|(_, count)| count.is_none_or(|count| count > 0));

    if let (Some(count), Some(least)) = (facts.count, least)
        && whole + least > count
    {
        notes.push(mismatch(node, &format!(
            "The node advertises more than its {count} labelled cards hold: some counts are left over from an earlier cut."
        )));
    }
    let total = if any { facts.count.map(|count| (count - whole).max(0)).or(least) } else { Some(0) };
    let Some(mut left) = total else {
        for (pool, (profile, _)) in cut.iter_mut().zip(&instances) {
            pool.physical = None;
            notes.push(unknown_profile(node, &pool.resource, profile));
        }
        return;
    };
    let last = cut.len().saturating_sub(1);
    for (index, (pool, (profile, count))) in cut.iter_mut().zip(&instances).enumerate() {
        let own = count.and_then(|count| mig::cards(table, profile, count)).unwrap_or(left).min(left);
        let share = if index == last { left } else { own };
        pool.physical = Some(share);
        left -= share;
    }
}

/// MIG instances behind a pool: its units, or for a shared profile what the profile's own labels say.
fn instances_of(pool: &mut Pool, profile: &str, node: &Node, notes: &mut Vec<Warning>) -> Option<i64> {
    let number = |suffix: &str| {
        node.labels
            .get(&format!("nvidia.com/mig-{profile}.{suffix}"))
            .and_then(|value| value.parse::<i64>().ok())
    };
    let units = pool.units.capacity?;
    let (count, replicas) = (number("count"), number("replicas").unwrap_or(1).max(1));
    let is_shared = pool.kind == Kind::GpuShared || replicas > 1;
    if !is_shared {
        if count.is_some_and(|count| count != units) {
            notes.push(mismatch(
                node,
                &format!("Labels and status disagree on the number of {profile} instances."),
            ));
        }
        return Some(units);
    }
    notes.push(shared(node));
    let strategy =
        node.labels.get(&format!("nvidia.com/mig-{profile}.sharing-strategy")).unwrap_or("unknown");
    pool.sharing = Some(Sharing { strategy: strategy.into(), replicas: (replicas > 1).then_some(replicas) });
    if count.is_some_and(|count| count.saturating_mul(replicas) != units) {
        notes.push(inconsistent(
            node,
            &format!("Labels and status disagree on the shares of {profile} instances."),
        ));
    }
    count.or_else(|| (replicas > 1).then(|| mig::ceil(units, replicas)).flatten())
}

fn table_of(pool: &Pool, memory_mib: Option<i64>) -> Option<&'static MigTable> {
    pool.model.as_deref().and_then(|raw| catalogue::mig_table(raw, memory_mib))
}

fn mismatch(node: &Node, text: &str) -> Warning {
    Warning::of_node(&node.name, "label-count-mismatch", Severity::Warning, text)
}

fn unknown_profile(node: &Node, resource: &Name, profile: &str) -> Warning {
    let text = format!(
        "How many {profile} instances a card of this model holds is not known, so neither are the cards."
    );
    Warning::of_node(&node.name, "mig-profile-unknown", Severity::Warning, text).about(resource)
}
