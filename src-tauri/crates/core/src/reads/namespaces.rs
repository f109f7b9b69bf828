//! The namespaces that a registration may address.

use futures_util::StreamExt as _;
use futures_util::stream;

use super::cluster::whole_scope;
use super::list::{Listed, list_fold};
use super::parts::{LISTS_AT_ONCE, fold_rows, limits};
use super::reading::Reading;
use crate::connect::{ClusterClient, ReadError, Resource, ResourcePath};
use crate::registry::{Bound, Namespace, NamespaceScope};
use crate::views::NamespaceRow;

/// The namespaces of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamespacesReading {
    /// Of the whole cluster: one list, read or not.
    WholeCluster(Reading<Listed<Vec<NamespaceRow>>>),
    /// Of a bounded registration: each name of its bound, with what the credential may see of the object. Most may not
    /// see it at all, and the name is good all the same.
    Bounded(Vec<(Namespace, Reading<NamespaceRow>)>),
}

impl NamespacesReading {
    /// The rows that can be shown. A namespace of the bound whose object was not read has its name and no more; one that
    /// the cluster does not have is left out.
    pub fn rows(&self) -> Vec<NamespaceRow> {
        match self {
            Self::WholeCluster(list) => list.ok().map(|listed| listed.rows.clone()).unwrap_or_default(),
            Self::Bounded(names) => names
                .iter()
                .filter_map(|(name, outcome)| match outcome {
                    Reading::Ok(row) => Some(row.clone()),
                    Reading::Absent => None,
                    _ => Some(NamespaceRow::named(name.as_str())),
                })
                .collect(),
        }
    }
}

/// Reads the namespaces that the registration may address.
pub async fn read_namespaces(bound: &Bound) -> NamespacesReading {
    let client = bound.client();
    match whole_scope(bound) {
        NamespaceScope::All => {
            let path = ResourcePath::all(Resource::Namespaces);
            NamespacesReading::WholeCluster(Reading::of(list_fold(client, &path, &limits(), fold_rows).await))
        }
        NamespaceScope::Each(names) => {
            let reads = names.into_iter().map(|name| async move {
                let outcome = Reading::of(one(client, &name).await);
                (name, outcome)
            });
            NamespacesReading::Bounded(stream::iter(reads).buffered(LISTS_AT_ONCE).collect().await)
        }
    }
}

async fn one(client: &ClusterClient, name: &Namespace) -> Result<NamespaceRow, ReadError> {
    let item = client.get_bytes(&ResourcePath::namespace(name)).await?;
    NamespaceRow::from_item(&item)
        .map_err(|_| ReadError::WrongKind { server: client.server().to_owned(), expected: "Namespace" })
}
