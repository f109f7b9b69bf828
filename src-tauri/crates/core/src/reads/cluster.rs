//! The reads that the rest of the program asks for. Each takes a [`Bound`] and asks it first, so none can be made without
//! the check; the refusal comes before anything is dialled.

use jiff::Timestamp;
use serde::Deserialize;

use super::dra::{self, DraReading};
use super::list::{ItemError, Listed, list_fold};
use super::parts::{Rows as _, fold_rows, limits, scoped};
use super::reading::{PerNamespace, Reading};
use crate::clock::Clock;
use crate::connect::{ClusterClient, ReadError, Resource, ResourcePath, ServerVersion};
use crate::inventory::input::{Node, Pod};
use crate::registry::{Bound, Namespace, NamespaceScope, Refusal};
use crate::views::{NodeRow, PodRow};

/// The nodes of a cluster, in both shapes, out of one list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nodes {
    /// For the inventory.
    pub input: Vec<Node>,
    /// For the screen.
    pub rows: Vec<NodeRow>,
}

impl Nodes {
    fn fold(&mut self, item: &[u8]) -> Result<(), ItemError> {
        let node = Node::from_item(item)?;
        let row = NodeRow::from_item(item)?;
        self.input.push(node);
        self.rows.push(row);
        Ok(())
    }
}

/// Everything that the inventory of one cluster is computed from, each part with its own outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct InventoryReading {
    /// When the reading began.
    pub observed_at: Timestamp,
    /// The server's version.
    pub version: Reading<ServerVersion>,
    /// The UID of the namespace `kube-system`, by which two registrations of one cluster are told to be the same. A
    /// bounded registration does not read it.
    pub cluster_uid: Reading<Box<str>>,
    /// The nodes. A bounded registration reads none.
    pub nodes: Reading<Listed<Nodes>>,
    /// The pods, per namespace of the bound.
    pub pods: PerNamespace<Pod>,
    /// Dynamic resource allocation.
    pub dra: DraReading,
}

/// Reads what the inventory is computed from, all parts at once.
pub async fn read_inventory_input(bound: &Bound, clock: &dyn Clock) -> InventoryReading {
    // Boxed: the state of so many lists is over 20 KiB, and every caller up to the task would carry it.
    Box::pin(read_all(bound, clock)).await
}

async fn read_all(bound: &Bound, clock: &dyn Clock) -> InventoryReading {
    let (client, scope, observed_at) = (bound.client(), whole_scope(bound), clock.now());
    let nodes = async {
        if bound.whole_cluster().is_err() {
            return Reading::OutsideBound;
        }
        Reading::of(list_fold(client, &ResourcePath::all(Resource::Nodes), &limits(), Nodes::fold).await)
    };
    let cluster_uid = async {
        if bound.whole_cluster().is_err() {
            return Reading::OutsideBound;
        }
        Reading::of(cluster_uid(client).await)
    };
    let version = async { Reading::of(client.version().await) };
    let (version, cluster_uid, nodes, pods, dra) = tokio::join!(
        version,
        cluster_uid,
        nodes,
        scoped(client, &scope, pods_path),
        dra::read(client, &scope)
    );
    InventoryReading { observed_at, version, cluster_uid, nodes, pods, dra }
}

async fn cluster_uid(client: &ClusterClient) -> Result<Box<str>, ReadError> {
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: Box<str>,
    }
    let object: Object = client.get_json(&ResourcePath::kube_system()).await?;
    Ok(object.metadata.uid)
}

/// As much as the registration may address. Asking for no namespace in particular is refused nowhere; if it were, nothing
/// would be read.
pub(super) fn whole_scope(bound: &Bound) -> NamespaceScope {
    bound.scope("").unwrap_or(NamespaceScope::Each(Vec::new()))
}

fn pods_path(namespace: Option<&Namespace>) -> ResourcePath {
    match namespace {
        None => ResourcePath::all(Resource::Pods),
        Some(namespace) => ResourcePath::pods_in(namespace),
    }
}

/// Reads the nodes as the cluster screen shows them.
///
/// # Errors
/// [`Refusal::Scope`] for a bounded registration; nothing is dialled then.
pub async fn read_nodes(bound: &Bound) -> Result<Reading<Listed<Vec<NodeRow>>>, Refusal> {
    bound.whole_cluster()?;
    let path = ResourcePath::all(Resource::Nodes);
    Ok(Reading::of(list_fold(bound.client(), &path, &limits(), fold_rows).await))
}

/// Reads the pods of one namespace, or (with an empty name) of all that the registration may address.
///
/// # Errors
/// [`Refusal::Namespace`] for a namespace outside the bound; nothing is dialled then.
pub async fn read_pods(bound: &Bound, namespace: &str) -> Result<PerNamespace<PodRow>, Refusal> {
    let scope = bound.scope(namespace)?;
    Ok(scoped(bound.client(), &scope, pods_path).await)
}
