//! From what the core knows to what the screens show. Pure.
//!
//! Invariant: what the core does not know stays `None`; nothing here turns an unknown into a number.

use std::collections::BTreeMap;

use muster_core::fleet::{ClusterReading, Fleet, Member};
use muster_core::inventory::pool::{Pool, Source, Units};
use muster_core::inventory::{ClusterInventory, Severity, Warning};
use muster_core::reads::Reading;
use muster_core::registry::NamespaceBound;
use serde::Serialize;

use crate::dto::cluster::{HolderView, NodeView, PoolView};
use crate::dto::fleet::{
    ClusterRow, FleetTotals, FleetView, ModelCount, Note, ReadingState, ScopeView, UnitCounts, UnknownCluster,
};
use crate::{AppError, ErrorKind};

/// Notes shown on a row; the rest is counted.
const NOTES_SHOWN: usize = 12;

/// The fleet screen.
pub fn fleet(fleet: &Fleet) -> FleetView {
    let snapshot = fleet.snapshot();
    let clusters: Vec<ClusterRow> = snapshot.members.iter().map(cluster).collect();
    FleetView {
        org: fleet.tenant().org().as_str().to_owned(),
        index_observed_at: snapshot.index_observed_at.to_string(),
        index_error: snapshot.index_error.as_deref().map(AppError::from),
        totals: totals(&snapshot.members, &clusters),
        clusters,
        pending_purges: snapshot.pending_purges.iter().map(|purge| purge.name.as_str().to_owned()).collect(),
        read_only: None,
    }
}

/// A registration's bound.
pub fn scope(bound: &NamespaceBound) -> ScopeView {
    match bound {
        NamespaceBound::WholeCluster => ScopeView::WholeCluster,
        NamespaceBound::Only(names) => {
            ScopeView::Namespaces { names: names.iter().map(|name| name.as_str().to_owned()).collect() }
        }
    }
}

/// One row of the fleet screen.
pub fn cluster(member: &Member) -> ClusterRow {
    let record = &member.record;
    let reading = member.reading.as_deref();
    let (nodes, nodes_ready) = reading.map_or((None, None), node_counts);
    let mut notes = reading.map(|reading| notes(&reading.inventory)).unwrap_or_default();
    if let Some(why) = reading.and_then(|reading| reading.pods_unread.as_deref()) {
        notes.insert(
            0,
            Note { code: "pods-unread".into(), severity: "warning".into(), subject: None, text: why.into() },
        );
    }
    ClusterRow {
        name: record.name.as_str().to_owned(),
        provider: record.provider.clone(),
        endpoint: record.host_and_port(),
        scope: scope(&record.bound),
        default: record.default,
        registered_at: record.registered.clone(),
        state: state(member),
        observed_at: reading.map(|reading| reading.observed_at.to_string()),
        refreshing: member.refreshing,
        error: member.error.as_deref().map(AppError::from),
        version: reading.and_then(|reading| reading.version.clone()),
        nodes,
        nodes_ready,
        pods: reading.and_then(|reading| reading.pods).and_then(|pods| u32::try_from(pods).ok()),
        units: reading.map(|reading| units_of(&reading.inventory)).unwrap_or_default(),
        models: reading.map(|reading| models(reading.inventory.pools())).unwrap_or_default(),
        pending_units: reading.and_then(|reading| pending(&reading.inventory)),
        notes,
    }
}

fn state(member: &Member) -> ReadingState {
    match (&member.reading, &member.error) {
        (Some(_), Some(_)) => ReadingState::Stale,
        (Some(reading), None) if reading.is_partial() => {
            if matches!(reading.nodes, Reading::Forbidden { .. }) {
                ReadingState::Forbidden
            } else {
                ReadingState::Partial
            }
        }
        (Some(_), None) => ReadingState::Fresh,
        (None, Some(error)) => match AppError::from(&**error).kind {
            ErrorKind::Forbidden => ReadingState::Forbidden,
            ErrorKind::Unreachable => ReadingState::Unreachable,
            _ => ReadingState::Failed,
        },
        (None, None) if member.refreshing => ReadingState::Loading,
        (None, None) => ReadingState::Idle,
    }
}

fn node_counts(reading: &ClusterReading) -> (Option<u32>, Option<u32>) {
    let Some(nodes) = reading.nodes.ok() else { return (None, None) };
    let ready = nodes.iter().filter(|node| node.ready == Some(true)).count();
    (u32::try_from(nodes.len()).ok(), u32::try_from(ready).ok())
}

/// A sum in which one unknown term makes the whole unknown only where nothing is known.
#[derive(Default)]
struct Sums {
    cards: Option<i64>,
    units: [Option<i64>; 4],
}

impl Sums {
    fn add(&mut self, cards: Option<i64>, units: &Units) {
        let add = |sum: &mut Option<i64>, term: Option<i64>| {
            if let Some(term) = term {
                *sum = Some(sum.unwrap_or(0).saturating_add(term));
            }
        };
        add(&mut self.cards, cards);
        let terms = [units.allocatable, units.requested, units.free, units.usable_free];
        for (sum, term) in self.units.iter_mut().zip(terms) {
            add(sum, term);
        }
    }

    fn counts(&self) -> UnitCounts {
        let [allocatable, requested, free, usable_free] = self.units;
        UnitCounts { cards: self.cards, allocatable, requested, free, usable_free }
    }
}

/// Pools that are accelerators: what no table knows is shown and never added up.
fn counts(pool: &Pool) -> bool {
    word(&pool.kind) != "unclassified"
}

/// Sum over a cluster's accelerators. A cluster whose nodes were read and that has none has zero of everything.
pub fn units_of(inventory: &ClusterInventory) -> UnitCounts {
    let mut sums = Sums::default();
    if inventory.totals.nodes.is_some() {
        sums.add(
            Some(0),
            &Units {
                capacity: Some(0),
                allocatable: Some(0),
                requested: Some(0),
                free: Some(0),
                usable_free: Some(0),
            },
        );
    }
    for pool in inventory.pools().filter(|pool| counts(pool)) {
        sums.add(pool.physical, &pool.units);
    }
    let mut units = sums.counts();
    if inventory.waiting.is_none() {
        // Without the pods nobody knows what is held.
        (units.requested, units.free, units.usable_free) = (None, None, None);
    }
    units
}

/// By model, most units first.
pub fn models<'a>(pools: impl Iterator<Item = &'a Pool>) -> Vec<ModelCount> {
    let mut by_key: BTreeMap<(String, String), (ModelCount, Sums)> = BTreeMap::new();
    for pool in pools {
        let model = model_name(pool).unwrap_or_else(|| pool.resource.to_string());
        let key = (model.clone(), pool.resource.to_string());
        let (_, sums) = by_key.entry(key).or_insert_with(|| {
            let row = ModelCount {
                model,
                vendor: pool.vendor.unwrap_or("unknown").to_owned(),
                kind: word(&pool.kind),
                resource: pool.resource.to_string(),
                memory_mib: pool.memory_mib,
                units: UnitCounts::default(),
            };
            (row, Sums::default())
        });
        sums.add(pool.physical, &pool.units);
    }
    let mut rows: Vec<ModelCount> = by_key
        .into_values()
        .map(|(row, sums)| ModelCount { units: sums.counts(), ..row })
        // A resource that a plugin left behind at zero says nothing.
        .filter(|row| {
            row.units.allocatable != Some(0)
                || row.units.requested.is_some_and(|held| held > 0)
                || row.units.cards.is_some_and(|c| c > 0)
        })
        .collect();
    rows.sort_by(|a, b| b.units.allocatable.cmp(&a.units.allocatable).then_with(|| a.model.cmp(&b.model)));
    rows
}

fn pending(inventory: &ClusterInventory) -> Option<i64> {
    let pending = inventory.totals.pending.as_ref()?;
    Some(pending.values().filter_map(|units| *units).sum())
}

/// What people should know, the gravest first.
pub fn notes(inventory: &ClusterInventory) -> Vec<Note> {
    let mut warnings: Vec<&Warning> = inventory.warnings.iter().collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    let mut notes: Vec<Note> = warnings
        .iter()
        .take(NOTES_SHOWN)
        .map(|warning| Note {
            code: warning.code.to_string(),
            severity: match warning.severity {
                Severity::Info => "info",
                Severity::Warning => "warning",
                Severity::Error => "error",
            }
            .to_owned(),
            subject: warning.node.as_ref().map(ToString::to_string),
            text: warning.text.clone(),
        })
        .collect();
    if warnings.len() > NOTES_SHOWN {
        let text = format!("{} more notes are in the cluster's own screen.", warnings.len() - NOTES_SHOWN);
        notes.push(Note { code: "more".into(), severity: "info".into(), subject: None, text });
    }
    notes
}

fn totals(members: &[Member], rows: &[ClusterRow]) -> FleetTotals {
    let known = |row: &ClusterRow| row.units.cards.is_some() || row.nodes.is_some();
    let mut sums = Sums::default();
    for row in rows.iter().filter(|row| known(row)) {
        let units = &row.units;
        sums.add(
            units.cards,
            &Units {
                capacity: None,
                allocatable: units.allocatable,
                requested: units.requested,
                free: units.free,
                usable_free: units.usable_free,
            },
        );
    }
    let nodes: Vec<u32> = rows.iter().filter_map(|row| row.nodes).collect();
    FleetTotals {
        clusters: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        nodes: (!nodes.is_empty()).then(|| nodes.iter().sum()),
        units: sums.counts(),
        models: models(members.iter().filter_map(|m| m.reading.as_deref()).flat_map(|r| r.inventory.pools())),
        unknown: rows
            .iter()
            .filter(|row| !known(row))
            .map(|row| UnknownCluster { name: row.name.clone(), state: row.state })
            .collect(),
    }
}

/// The nodes of the cluster screen; `None` where they were not read.
pub fn nodes(reading: &ClusterReading) -> Option<Vec<NodeView>> {
    let rows = reading.nodes.ok()?;
    let by_name: BTreeMap<&str, _> = reading.inventory.nodes.iter().map(|node| (&*node.name, node)).collect();
    let text = |value: &Option<Box<str>>| value.as_deref().map(str::to_owned);
    let views = rows.iter().map(|row| {
        let inventory = by_name.get(&*row.name);
        let pools = inventory.map(|node| node.accelerators.as_slice()).unwrap_or_default();
        NodeView {
            name: row.name.to_string(),
            ready: row.ready,
            schedulable: row.schedulable,
            roles: row.roles.iter().map(ToString::to_string).collect(),
            version: text(&row.version),
            instance_type: text(&row.instance_type),
            region: text(&row.region),
            zone: text(&row.zone),
            internal_ip: text(&row.internal_ip),
            cpu_milli: row.cpu_milli,
            memory_mib: row.memory_mib,
            created: row.created.map(|at| at.to_string()),
            problems: row.problems.iter().map(ToString::to_string).collect(),
            pools: pools.iter().map(pool).collect(),
            holders: pools.iter().flat_map(holders).collect(),
        }
    });
    Some(views.collect())
}

fn pool(pool: &Pool) -> PoolView {
    PoolView {
        vendor: pool.vendor.unwrap_or("unknown").to_owned(),
        kind: word(&pool.kind),
        resource: pool.resource.to_string(),
        source: match pool.source {
            Source::DevicePlugin => "device-plugin",
            Source::Dra => "dra",
        }
        .to_owned(),
        model: model_name(pool),
        memory_mib: pool.memory_mib,
        capacity: pool.units.capacity,
        units: UnitCounts {
            cards: pool.physical,
            allocatable: pool.units.allocatable,
            requested: pool.units.requested,
            free: pool.units.free,
            usable_free: pool.units.usable_free,
        },
    }
}

/// The model for people, with the profile where a card is cut: `H100 3g.40gb`.
fn model_name(pool: &Pool) -> Option<String> {
    let model =
        pool.model_short.map(str::to_owned).or_else(|| pool.model.as_ref().map(ToString::to_string))?;
    match &pool.profile {
        Some(profile) if !model.contains(&**profile) => Some(format!("{model} {profile}")),
        _ => Some(model),
    }
}

fn holders(pool: &Pool) -> Vec<HolderView> {
    let holders = pool.holders.iter().flatten();
    holders
        .map(|holder| HolderView {
            namespace: holder.namespace.to_string(),
            pod: holder.pods.first().or(holder.claim.as_ref()).map(ToString::to_string).unwrap_or_default(),
            resource: pool.resource.to_string(),
            units: holder.units.unwrap_or(0),
            since: holder.since.map(|at| at.to_string()),
        })
        .collect()
}

/// The word that a unit variant is written as.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
