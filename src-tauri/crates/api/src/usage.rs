//! The commands of live use: which services of a cluster measure accelerators, and what one of them says.

use muster_core::usage::{CardUse, UseError, UseSource, find_sources, judge_by_inventory, read_use};

use crate::app::App;
use crate::dto::fleet::ClusterRequest;
use crate::dto::usage::{
    CardUseRow, LiveUse, LiveUseRequest, LiveUseTotals, UnreadNode, UseHolderView, UseSourceRow, UseSources,
};
use crate::{AppError, ErrorKind};

impl App {
    /// The services of a cluster that measure accelerators.
    pub async fn live_use_sources(&self, request: ClusterRequest) -> Result<UseSources, AppError> {
        let signed_in = self.signed_in()?;
        let bound = signed_in.registry.reach(signed_in.fleet.tenant(), &request.cluster).await?;
        let sources = find_sources(&bound).await?;
        Ok(UseSources { cluster: request.cluster, sources: sources.iter().map(source).collect() })
    }

    /// Reads one source once.
    pub async fn live_use_get(&self, request: LiveUseRequest) -> Result<LiveUse, AppError> {
        let signed_in = self.signed_in()?;
        let bound = signed_in.registry.reach(signed_in.fleet.tenant(), &request.cluster).await?;
        let mut read = read_use(&bound, &request.source, &*self.environment.clock).await?;
        let known = signed_in.fleet.member(&request.cluster).and_then(|member| member.reading);
        if let Some(reading) = &known {
            judge_by_inventory(&mut read.cards, &reading.inventory.nodes);
        }
        let total = count(read.nodes.len());
        let unread: Vec<UnreadNode> = read
            .nodes
            .iter()
            .filter_map(|node| {
                Some(UnreadNode { node: node.node.to_string(), error: node.error.as_ref()?.into() })
            })
            .collect();
        Ok(LiveUse {
            cluster: request.cluster,
            source: source(&read.source),
            observed_at: read.observed_at.to_string(),
            peak_minutes: read.peak_minutes,
            nodes_read: (total > 0).then(|| total - count(unread.len())),
            nodes_total: (total > 0).then_some(total),
            unread,
            totals: totals(&read.cards),
            cards: read.cards.iter().map(row).collect(),
        })
    }
}

impl From<UseError> for AppError {
    fn from(error: UseError) -> Self {
        match &error {
            UseError::Refused(refusal) => refusal.clone().into(),
            UseError::Read(read) => {
                let mut told = Self::from(read);
                told.hint = Some(error.hint().to_owned());
                told
            }
            UseError::NotASource(_) => {
                Self::new(error.code(), ErrorKind::Refused, error.to_string(), error.hint())
            }
            UseError::NothingMeasured(_) => {
                Self::new(error.code(), ErrorKind::Absent, error.to_string(), error.hint())
            }
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn source(source: &UseSource) -> UseSourceRow {
    UseSourceRow { id: source.id.to_string(), kind: source.kind.as_str().to_owned() }
}

fn is_faulty(card: &CardUse) -> bool {
    card.xid.is_some_and(|code| code != 0) || card.healthy == Some(false)
}

fn totals(cards: &[CardUse]) -> LiveUseTotals {
    let number = |has: &dyn Fn(&CardUse) -> bool| count(cards.iter().filter(|card| has(card)).count());
    let loads: Vec<f64> = cards.iter().filter_map(|card| card.busy).collect();
    let powers: Vec<f64> = cards.iter().filter_map(|card| card.power).collect();
    let sum = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>());
    LiveUseTotals {
        cards: count(cards.len()),
        measured: count(loads.len()),
        mean_busy: sum(&loads).map(|sum| sum / f64::from(count(loads.len()))),
        held: number(&|card| card.held == Some(true)),
        idle: number(&|card| card.is_idle() == Some(true)),
        idle_unknown: number(&|card| card.is_idle().is_none()),
        faulty: number(&is_faulty),
        power_watts: sum(&powers),
    }
}

fn row(card: &CardUse) -> CardUseRow {
    let text = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    CardUseRow {
        node: text(&card.node),
        id: card.id.to_string(),
        index: text(&card.index),
        model: text(&card.model),
        instance: text(&card.instance),
        holders: card
            .holders
            .iter()
            .map(|holder| UseHolderView {
                namespace: holder.namespace.to_string(),
                pod: holder.pod.to_string(),
            })
            .collect(),
        held: card.held,
        idle: card.is_idle(),
        busy: card.busy,
        peak: card.peak,
        memory_used_mib: card.memory_used,
        memory_total_mib: card.memory_total,
        power_watts: card.power,
        temperature_celsius: card.temperature,
        xid: card.xid,
        healthy: card.healthy,
    }
}
