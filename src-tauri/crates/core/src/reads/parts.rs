//! Lists of rows: across the cluster, or namespace by namespace.

use futures_util::StreamExt as _;
use futures_util::stream;

use super::list::{ItemError, ListLimits, Listed, list_fold};
use super::reading::{PerNamespace, Reading};
use crate::connect::{ClusterClient, ResourcePath};
use crate::inventory::input;
use crate::registry::{Namespace, NamespaceScope};
use crate::views::{NamespaceRow, NodeRow, PodRow};

/// How many lists of one cluster are read at once: enough to hide its latency, too few to weigh on it.
pub const LISTS_AT_ONCE: usize = 4;

/// What the lists of this program may cost.
pub fn limits() -> ListLimits {
    ListLimits::default()
}

/// A row that is made from one item.
pub trait Rows: Sized + Send {
    /// Makes the row.
    fn from_item(item: &[u8]) -> Result<Self, ItemError>;
}

/// Rows of the inventory are read leniently and fail only on what is not JSON. One without a name stands for an item
/// that was no object of its kind.
macro_rules! inventory_rows {
    ($($row:ty),+ $(,)?) => {$(
        impl Rows for $row {
            fn from_item(item: &[u8]) -> Result<Self, ItemError> {
                let row: Self = serde_json::from_slice(item)?;
                if row.name.is_empty() { Err(ItemError) } else { Ok(row) }
            }
        }
    )+};
}
inventory_rows!(
    input::Node,
    input::Pod,
    input::ResourceSlice,
    input::ResourceClaim,
    input::DeviceClass,
    input::DeviceTaintRule,
);

macro_rules! view_rows {
    ($($row:ty),+ $(,)?) => {$(
        impl Rows for $row {
            fn from_item(item: &[u8]) -> Result<Self, ItemError> {
                Ok(<$row>::from_item(item)?)
            }
        }
    )+};
}
view_rows!(NodeRow, PodRow, NamespaceRow);

/// Folds an item into a list of rows.
pub fn fold_rows<Row: Rows>(rows: &mut Vec<Row>, item: &[u8]) -> Result<(), ItemError> {
    rows.push(Row::from_item(item)?);
    Ok(())
}

/// Reads a namespaced kind within a scope: in one list across the cluster, or one list per namespace, of which one that
/// fails does not cost the others.
pub async fn scoped<Row: Rows>(
    client: &ClusterClient,
    scope: &NamespaceScope,
    path: impl Fn(Option<&Namespace>) -> ResourcePath,
) -> PerNamespace<Row> {
    let namespaces = match scope {
        NamespaceScope::All => vec![None],
        NamespaceScope::Each(names) => names.iter().cloned().map(Some).collect(),
    };
    let reads = namespaces.into_iter().map(|namespace| {
        let path = path(namespace.as_ref());
        async move {
            let listed: Result<Listed<Vec<Row>>, _> = list_fold(client, &path, &limits(), fold_rows).await;
            (namespace, Reading::of(listed))
        }
    });
    PerNamespace::gather(stream::iter(reads).buffered(LISTS_AT_ONCE).collect().await)
}
