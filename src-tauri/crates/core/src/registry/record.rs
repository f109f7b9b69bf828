//! A registered cluster: as it is stored (a row of the index), and as the rest of the program sees it.
//!
//! Invariants: there is no field for a credential or for where one lies, since both are derived; the org is that of
//! the index the row was read from, whatever the row says; a field that Muster does not know is kept when the row is
//! written again.
//!
//! The stored names are those of the service Muster stays compatible with: `name, org, provider, endpoint, nodes,
//! nvidiaGpu, amdGpu, namespaces, registered, default`. Beside them Muster keeps three of its own, which that service
//! ignores: `rev` (which registration this row is from), `sealed` (the KMS's version of the credential that was sealed
//! with it) and `countsUnknown` (the three numbers are 0 because nobody may count, not because there is nothing).

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::{ClusterName, NamespaceBound};
use crate::kms::Version;
use crate::kubeconfig::printable;
use crate::tenant::Org;

/// The provider of a registration that names none: "bring your own".
pub const DEFAULT_PROVIDER: &str = "byo";

/// What the probe of a registration counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Nodes.
    pub nodes: u64,
    /// Allocatable `nvidia.com/gpu`, summed over the nodes.
    pub nvidia_gpu: u64,
    /// Allocatable `amd.com/gpu`, summed over the nodes.
    pub amd_gpu: u64,
}

/// A registered cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its name within the org.
    pub name: ClusterName,
    /// The org that registered it.
    pub org: Org,
    /// Who runs it (`eks`, `gke`, ...; [`DEFAULT_PROVIDER`] where nobody said).
    pub provider: String,
    /// The API server's URL, as the source stores it. Empty where the row has none.
    pub endpoint: String,
    /// What was counted when it was registered. `None` where the registration may not count: unknown, which is not 0.
    pub counts: Option<Counts>,
    /// What it may address.
    pub bound: NamespaceBound,
    /// When it was registered last (RFC 3339), verbatim.
    pub registered: String,
    /// Whether it is the org's default.
    pub default: bool,
    /// Which registration the row is from.
    pub(super) generation: Generation,
    /// The least version of the credential that belongs to this row.
    pub(super) sealed: Option<Version>,
}

impl Record {
    /// The API server as `host:port`, for people.
    pub fn host_and_port(&self) -> String {
        match url::Url::parse(&self.endpoint) {
            Ok(url) => match (url.host_str(), url.port_or_known_default()) {
                (Some(host), Some(port)) => format!("{host}:{port}"),
                _ => printable(&self.endpoint),
            },
            Err(_) => printable(&self.endpoint),
        }
    }

    /// When it was registered last, where the row holds a time.
    pub fn registered_at(&self) -> Option<Timestamp> {
        self.registered.parse().ok()
    }
}

/// Which registration of a name a row is from. It changes whenever a credential is registered anew, by whichever
/// desktop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Generation {
    registered: String,
    rev: Option<String>,
}

/// A row of the index, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub org: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub provider: String,
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub endpoint: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub nodes: i64,
    #[serde(default, deserialize_with = "null_is_default")]
    pub nvidia_gpu: i64,
    #[serde(default, deserialize_with = "null_is_default")]
    pub amd_gpu: i64,
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub registered: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub default: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<u64>,
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "std::ops::Not::not")]
    pub counts_unknown: bool,
    /// The version of the row's own format; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<u64>,
    /// What Muster does not know, kept.
    #[serde(flatten)]
    pub others: serde_json::Map<String, serde_json::Value>,
}

/// The source's decoder reads `null` as "not set", for every type.
fn null_is_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Why a row cannot be one of a cluster. Texts name the field and never quote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowFault {
    Name,
    Namespaces,
}

impl Row {
    /// The row that a registration writes.
    pub fn of(record: &Record) -> Self {
        let counts = record.counts.unwrap_or_default();
        let stored = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Self {
            name: record.name.to_string(),
            org: record.org.to_string(),
            provider: record.provider.clone(),
            endpoint: record.endpoint.clone(),
            nodes: stored(counts.nodes),
            nvidia_gpu: stored(counts.nvidia_gpu),
            amd_gpu: stored(counts.amd_gpu),
            namespaces: match &record.bound {
                NamespaceBound::WholeCluster => Vec::new(),
                NamespaceBound::Only(names) => names.iter().map(ToString::to_string).collect(),
            },
            registered: record.registered.clone(),
            default: record.default,
            rev: record.generation.rev.clone(),
            sealed: record.sealed.map(|Version(number)| number),
            counts_unknown: record.counts.is_none(),
            schema: None,
            others: serde_json::Map::new(),
        }
    }

    /// The name and the bound, or what is wrong with them.
    pub fn key(&self) -> Result<(ClusterName, NamespaceBound), RowFault> {
        // A stored name is taken verbatim: blanks around it would make a row that no name reaches.
        let name = ClusterName::parse(&self.name).map_err(|_| RowFault::Name)?;
        if name.as_str() != self.name {
            return Err(RowFault::Name);
        }
        // The source writes no `namespaces` for a whole cluster and never a list of blanks; such a list was meant as a
        // bound, and guessing at its meaning would widen what the row may address.
        let bound = if self.namespaces.is_empty() {
            NamespaceBound::WholeCluster
        } else {
            NamespaceBound::only(&self.namespaces).map_err(|_| RowFault::Namespaces)?
        };
        Ok((name, bound))
    }

    /// The record that the row stands for, owned by the org whose index it was read from.
    pub fn record(&self, org: &Org) -> Result<Record, RowFault> {
        let (name, bound) = self.key()?;
        // A bounded registration cannot count nodes. The source drops the mark when it rewrites the index, so "bounded
        // and zero" means unknown as well.
        let unknown = self.counts_unknown || (!bound.is_whole_cluster() && self.nodes == 0);
        let count = |stored: i64| u64::try_from(stored).unwrap_or(0);
        Ok(Record {
            name,
            org: org.clone(),
            provider: if self.provider.trim().is_empty() {
                DEFAULT_PROVIDER.to_owned()
            } else {
                self.provider.clone()
            },
            endpoint: self.endpoint.clone(),
            counts: (!unknown).then(|| Counts {
                nodes: count(self.nodes),
                nvidia_gpu: count(self.nvidia_gpu),
                amd_gpu: count(self.amd_gpu),
            }),
            bound,
            registered: self.registered.clone(),
            default: self.default,
            generation: Generation { registered: self.registered.clone(), rev: self.rev.clone() },
            sealed: self.sealed.map(Version),
        })
    }
}

impl Generation {
    /// The generation of a registration made now.
    pub fn new(registered: &str, rev: u64) -> Self {
        Self { registered: registered.to_owned(), rev: Some(format!("{rev:016x}")) }
    }

    /// When that registration was made.
    pub fn registered(&self) -> &str {
        &self.registered
    }
}
