//! One reading of one cluster: everything the fleet and cluster screens show, from one pass over its lists.

use jiff::Timestamp;

use crate::clock::Clock;
use crate::connect::ReadError;
use crate::inventory::{ClusterInput, ClusterInventory, Listing, Unread, inventory};
use crate::reads::{InventoryReading, PerNamespace, Reading, read_inventory_input};
use crate::registry::{Bound, Record};
use crate::views::{NodeRow, count_pods};

/// What was read of a cluster.
#[derive(Debug)]
pub struct ClusterReading {
    /// When the reading began.
    pub observed_at: Timestamp,
    /// Kubernetes version.
    pub version: Option<String>,
    /// The nodes, or why there are none.
    pub nodes: Reading<Vec<NodeRow>>,
    /// Pods that run or wait; `None` where not all of them could be read.
    pub pods: Option<usize>,
    /// Why pods are missing, in words.
    pub pods_unread: Option<String>,
    /// The accelerators.
    pub inventory: ClusterInventory,
    failure: Option<ReadError>,
}

/// A reading together with the registration that it went through.
pub struct Reached {
    /// The registration.
    pub record: Record,
    /// The reading.
    pub reading: ClusterReading,
}

impl ClusterReading {
    /// Why nothing at all could be read.
    pub fn failure(&self) -> Option<&ReadError> {
        self.failure.as_ref()
    }

    /// Whether the cluster did not accept the credential.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self.failure, Some(ReadError::Unauthorized { .. }))
    }

    /// Whether some part that the registration may address could not be read.
    pub fn is_partial(&self) -> bool {
        self.pods.is_none() || !matches!(self.nodes, Reading::Ok(_) | Reading::OutsideBound)
    }
}

/// Reads a cluster.
pub async fn observe(bound: &Bound, clock: &dyn Clock) -> ClusterReading {
    let read = read_inventory_input(bound, clock).await;
    // The sums take a moment on a large cluster, and nothing else should wait for them.
    let turned = tokio::task::spawn_blocking(move || turn(read));
    match turned.await {
        Ok(reading) => reading,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn turn(read: InventoryReading) -> ClusterReading {
    let failure = failure(&read);
    let whole =
        |pods: &PerNamespace<_>| pods.is_complete() && pods.parts.iter().all(|part| part.namespace.is_none());
    let inventory = inventory(&ClusterInput {
        nodes: listing(&read.nodes, |nodes| &nodes.rows.input),
        // The pods of some namespaces say nothing of what is free on a node.
        pods: if whole(&read.pods) { Listing::Read(&read.pods.rows) } else { unread(&read.pods) },
        resource_slices: listing(&read.dra.slices, |slices| &slices.rows),
        resource_claims: if read.dra.claims.is_complete() {
            Listing::Read(&read.dra.claims.rows)
        } else {
            unread(&read.dra.claims)
        },
        device_classes: listing(&read.dra.classes, |classes| &classes.rows),
        device_taint_rules: listing(&read.dra.taint_rules, |rules| &rules.rows),
    });
    let counted = read.pods.is_complete().then_some(read.pods.rows.len());
    let pods_unread = read.pods.unread().next().map(|part| match &part.outcome {
        Reading::Forbidden { message } => message.clone(),
        Reading::Failed(error) => error.to_string(),
        other => other.code().to_owned(),
    });
    let pods = read.pods.rows;
    let is_complete = counted.is_some();
    let nodes = read.nodes.map(|nodes| {
        let mut rows = nodes.rows.rows;
        if is_complete {
            count_pods(&mut rows, &pods);
        }
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows
    });
    ClusterReading {
        observed_at: read.observed_at,
        version: read.version.ok().map(|version| version.git_version.clone()),
        nodes,
        pods: counted,
        pods_unread,
        inventory,
        failure,
    }
}

/// A cluster of which not even one list could be read has failed; the first reason is told.
fn failure(read: &InventoryReading) -> Option<ReadError> {
    if read.nodes.ok().is_some() || read.pods.is_anything_read() {
        return None;
    }
    let of_pods = read.pods.parts.iter().find_map(|part| part.outcome.error());
    read.nodes.error().or(of_pods).or_else(|| read.version.error()).cloned()
}

fn listing<'a, T, R>(read: &'a Reading<T>, rows: impl Fn(&'a T) -> &'a Vec<R>) -> Listing<'a, R> {
    match read {
        Reading::Ok(value) => Listing::Read(rows(value)),
        other => Listing::Unread(why(other)),
    }
}

fn unread<R>(parts: &PerNamespace<R>) -> Listing<'static, R> {
    Listing::Unread(parts.unread().next().map_or(Unread::Forbidden, |part| why(&part.outcome)))
}

fn why<T>(read: &Reading<T>) -> Unread {
    match read {
        Reading::Absent => Unread::Absent,
        Reading::Failed(_) => Unread::Error,
        Reading::Ok(_) | Reading::OutsideBound | Reading::Forbidden { .. } => Unread::Forbidden,
    }
}
