//! The reads, through the API server.
//!
//! Invariants: each takes a [`Bound`] and is refused for a bounded registration before anything is dialled: cards belong
//! to the cluster as a whole. A node that was not read is named with its reason.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use jiff::Timestamp;
use serde::Deserialize;
use tokio::time::timeout;

use super::cards::{CardUse, Cards, Origin};
use super::exposition::samples;
use super::metrics::{ACTIVITY, quantity};
use super::promql::{self, Answer};
use super::sources::{PodPort, Service, SourceId, SourceKind, UseSource, sources_of};
use crate::clock::Clock;
use crate::connect::{ClusterClient, PodPath, ReadError, Resource, ResourcePath, Stage};
use crate::reads::{ItemError, ListLimits, list_fold};
use crate::registry::{Bound, Refusal};

/// Exporters that are read at once.
const AT_ONCE: usize = 16;
/// How long one exporter may take.
const ONE_NODE: Duration = Duration::from_secs(5);
/// The largest text of one exporter, in bytes. Sixteen cards cut in seven with every counter make half a MiB.
const TEXT_LIMIT: u64 = 8 * 1024 * 1024;
/// The largest answer of Prometheus, in bytes: one metric of 40,000 cards is 16 MiB.
const ANSWER_LIMIT: u64 = 64 * 1024 * 1024;

/// Why live use was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// The registration is bounded to namespaces.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What was named is no source that Muster knows.
    #[error("“{}” is no service that Muster reads live use from.", crate::kubeconfig::printable(.0))]
    NotASource(String),
    /// The cluster did not answer, or not with what was asked for.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Prometheus answers and measures no accelerator.
    #[error("{0} answers, and has no measurement of any accelerator.")]
    NothingMeasured(SourceId),
}

impl UseError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::NotASource(_) => "not_a_use_source",
            Self::Read(error) => error.code(),
            Self::NothingMeasured(_) => "nothing_measured",
        }
    }

    /// What the person can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Refused(_) => {
                "Live use belongs to the whole cluster; a registration of the whole cluster shows it."
            }
            Self::NotASource(_) => "Choose one of the sources that Muster finds in the cluster.",
            Self::Read(ReadError::Forbidden { .. }) => {
                "Ask for `get` on `services/proxy` and `pods/proxy` in the namespace of the exporter, and `list` on `services`."
            }
            Self::Read(error) => error.hint(),
            Self::NothingMeasured(_) => {
                "Check that it scrapes the DCGM exporter or AMD's metrics exporter, or choose the exporter itself."
            }
        }
    }
}

/// What came of one node's exporter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeUse {
    /// The node; the pod's name where the pod is on none yet.
    pub node: Box<str>,
    /// Why it was not read.
    pub error: Option<ReadError>,
}

/// Live use of one cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct UseReading {
    /// When the reading began.
    pub observed_at: Timestamp,
    /// From where.
    pub source: UseSource,
    /// The cards, by node, id and instance.
    pub cards: Vec<CardUse>,
    /// The nodes that were asked, where nodes are asked one by one; empty for Prometheus, which answers for all.
    pub nodes: Vec<NodeUse>,
    /// Minutes that peaks look back; `None` where the source has no memory.
    pub peak_minutes: Option<u32>,
}

/// The services that serve measurements, Prometheus first, as it knows all nodes at once.
///
/// # Errors
/// [`UseError`].
pub async fn find_sources(bound: &Bound) -> Result<Vec<UseSource>, UseError> {
    bound.whole_cluster()?;
    let fold = |found: &mut Vec<UseSource>, item: &[u8]| {
        let service: Service = serde_json::from_slice(item)?;
        found.extend(sources_of(service));
        Ok(())
    };
    let path = ResourcePath::all(Resource::Services);
    let mut found = list_fold(bound.client(), &path, &ListLimits::default(), fold).await?.rows;
    found.sort_by(|a, b| (a.kind, &a.id).cmp(&(b.kind, &b.id)));
    Ok(found)
}

/// Reads one source. It is looked up anew, so that only what [`find_sources`] would name is asked.
///
/// # Errors
/// [`UseError`]; single nodes that fail are in the reading.
pub async fn read_use(bound: &Bound, source: &str, clock: &dyn Clock) -> Result<UseReading, UseError> {
    bound.whole_cluster()?;
    let unknown = || UseError::NotASource(source.to_owned());
    let id = SourceId::parse(source).ok_or_else(unknown)?;
    let client = bound.client();
    let service: Service = client.get_json(&ResourcePath::service(&id.namespace, &id.service)).await?;
    let source = sources_of(service).into_iter().find(|found| found.id == id).ok_or_else(unknown)?;
    let observed_at = clock.now();
    let (cards, nodes, peak_minutes) = match source.kind {
        SourceKind::Prometheus => {
            (prometheus(client, &source).await?, Vec::new(), Some(promql::PEAK_MINUTES))
        }
        SourceKind::Dcgm | SourceKind::Amd => {
            let (cards, nodes) = exporters(client, &source).await?;
            (cards, nodes, None)
        }
    };
    Ok(UseReading { observed_at, source, cards, nodes, peak_minutes })
}

async fn prometheus(client: &ClusterClient, source: &UseSource) -> Result<Vec<CardUse>, UseError> {
    let ask = |query: String| async move {
        let path = ResourcePath::prometheus_query(&source.id, source.tls, &query);
        client.get_json_within::<Answer>(&path, ANSWER_LIMIT).await.map_err(of_the_service)
    };
    let metrics = ask(promql::which()).await?.names();
    if metrics.is_empty() {
        return Err(UseError::NothingMeasured(source.id.clone()));
    }
    let mut cards = Cards::default();
    for metric in &metrics {
        for sample in ask(promql::now(metric)).await?.samples(metric) {
            cards.add(&sample, Origin::Prometheus);
        }
        if ACTIVITY.iter().any(|activity| activity.eq_ignore_ascii_case(metric)) {
            for sample in ask(promql::peak(metric)).await?.samples(metric) {
                cards.add_peak(&sample, Origin::Prometheus);
            }
        }
    }
    Ok(cards.into_cards())
}

/// A 401 through the proxy is the service's own, and says nothing of the registered credential.
fn of_the_service(error: ReadError) -> ReadError {
    match error {
        ReadError::Unauthorized { server, .. } => ReadError::Rejected {
            server,
            status: 401,
            message:
                "the service wants a credential of its own, which the API server's proxy does not pass on"
                    .into(),
        },
        other => other,
    }
}

/// A pod of an exporter.
#[derive(Debug)]
struct ExporterPod {
    path: PodPath,
    node: Option<Box<str>>,
    running: bool,
    ports: Vec<(String, u16)>,
}

impl ExporterPod {
    fn from_item(item: &[u8]) -> Result<Self, ItemError> {
        #[derive(Deserialize)]
        struct Pod {
            metadata: Metadata,
            #[serde(default)]
            spec: Spec,
            #[serde(default)]
            status: Status,
        }
        #[derive(Deserialize)]
        struct Metadata {
            name: String,
            namespace: String,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Spec {
            node_name: Option<Box<str>>,
            #[serde(default)]
            containers: Vec<Container>,
        }
        #[derive(Deserialize)]
        struct Container {
            #[serde(default)]
            ports: Option<Vec<Port>>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Port {
            #[serde(default)]
            name: Option<String>,
            container_port: u16,
        }
        #[derive(Default, Deserialize)]
        struct Status {
            phase: Option<String>,
        }
        let pod: Pod = serde_json::from_slice(item)?;
        let ports = pod.spec.containers.into_iter().flat_map(|container| container.ports.unwrap_or_default());
        Ok(Self {
            path: PodPath::parse(&pod.metadata.namespace, &pod.metadata.name).ok_or(ItemError)?,
            node: pod.spec.node_name,
            running: pod.status.phase.as_deref() == Some("Running"),
            ports: ports.filter_map(|port| Some((port.name?, port.container_port))).collect(),
        })
    }

    fn port(&self, target: &PodPort) -> Option<u16> {
        match target {
            PodPort::Number(number) => Some(*number),
            PodPort::Name(name) => {
                self.ports.iter().find(|(port, _)| port == name).map(|(_, number)| *number)
            }
        }
    }
}

async fn exporters(
    client: &ClusterClient,
    source: &UseSource,
) -> Result<(Vec<CardUse>, Vec<NodeUse>), UseError> {
    if source.selector.is_empty() {
        return Err(UseError::NotASource(source.id.to_string()));
    }
    let path = ResourcePath::pods_selected(&source.id.namespace, &source.selector);
    let fold = |pods: &mut Vec<ExporterPod>, item: &[u8]| {
        pods.push(ExporterPod::from_item(item)?);
        Ok(())
    };
    let pods = list_fold(client, &path, &ListLimits::default(), fold).await?.rows;
    let reads = pods.into_iter().map(|pod| async move {
        let text = exporter(client, source, &pod).await;
        (pod, text)
    });
    let mut reads = stream::iter(reads).buffer_unordered(AT_ONCE);
    let (mut cards, mut nodes) = (Cards::default(), Vec::new());
    while let Some((pod, text)) = reads.next().await {
        let node: Box<str> = pod.node.clone().unwrap_or_else(|| pod.path.name().into());
        let error = match text {
            Ok(text) => {
                let origin = Origin::Exporter { node: pod.node.as_deref() };
                samples(&text, |name| quantity(name).is_some()).for_each(|sample| cards.add(&sample, origin));
                None
            }
            Err(error) => Some(error),
        };
        nodes.push(NodeUse { node, error });
    }
    nodes.sort_by(|a, b| a.node.cmp(&b.node));
    Ok((cards.into_cards(), nodes))
}

async fn exporter(
    client: &ClusterClient,
    source: &UseSource,
    pod: &ExporterPod,
) -> Result<String, ReadError> {
    let not_there = |message: &str| ReadError::Rejected {
        server: client.server().to_owned(),
        status: 503,
        message: message.to_owned(),
    };
    if !pod.running {
        return Err(not_there("the exporter's pod does not run"));
    }
    let port = pod.port(&source.pod_port).ok_or_else(|| not_there("the exporter's pod has no such port"))?;
    let path = ResourcePath::pod_metrics(&pod.path, source.tls, port);
    let read = client.get_text(&path, TEXT_LIMIT);
    timeout(ONE_NODE, read).await.map_or_else(
        |_| {
            Err(ReadError::Timeout {
                server: client.server().to_owned(),
                stage: Stage::Page,
                after: ONE_NODE,
            })
        },
        |outcome| outcome.map_err(of_the_service),
    )
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
