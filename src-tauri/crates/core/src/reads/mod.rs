//! Reads of a cluster: whole lists, folded into rows while they arrive.
//!
//! Start with [`read_inventory_input`], [`read_nodes`], [`read_pods`] and [`read_namespaces`]. The way of a list is
//! [`crate::connect::ClusterClient`] -> body in pieces -> [`splitter`] (finds the items) -> a fold that makes one row
//! per item -> [`Listed`].
//!
//! Invariants: every read takes a [`crate::registry::Bound`] and asks it first; nothing partial is ever taken for whole;
//! absent, forbidden, outside the bound, failed and empty are different outcomes ([`Reading`]).
//!
//! Deliberately absent: caches and schedules (see [`crate::fleet`]), writes, and any kind outside
//! [`crate::connect::Resource`].

mod access;
mod cluster;
mod dra;
mod list;
mod namespaces;
mod parts;
mod reading;
mod splitter;
#[cfg(test)]
mod tests;

pub use access::read_access;
pub use cluster::{InventoryReading, Nodes, read_inventory_input, read_nodes, read_pods};
pub use dra::DraReading;
pub use list::{ItemError, ListLimits, ListMeta, Listed};
pub(crate) use list::{list_fold, page_fold};
pub use namespaces::{NamespacesReading, read_namespaces};
pub use reading::{Part, PerNamespace, Reading};
pub use splitter::{ListHead, ListSplitter, SplitError, SplitLimits};
