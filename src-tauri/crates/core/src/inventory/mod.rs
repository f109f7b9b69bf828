//! The accelerator inventory: how many cards a cluster has, how they are cut, who holds them, what is free and really
//! usable, and why the rest is not.
//!
//! [`inventory()`] is one pure function over typed rows ([`input`]) for every view, so that no two of them can disagree
//! (kubestellar#8600); [`live`] keeps its result up to date, and [`fleet()`] merges results. The way of a number:
//!
//! rows -> [`names`] (what a resource name is) -> pools of one node, from its status (`plugin`, `cards`, `nvidia`) and
//! from resource slices ([`dra`]) -> [`node`] (are the free ones usable) -> [`totals`].
//!
//! Invariants:
//! - Unknown is `None` and never 0. One bad object, field or quantity costs itself and nothing else.
//! - Units and cards are two numbers: a unit may be a slice or a share, a card is counted once however many ledgers
//!   advertise it.
//! - A name that no table knows is shown as unclassified: never dropped, never added to the cards.
//! - The order of the input is irrelevant, and no clock and no network is read.
//!
//! What is known of vendors, clouds and models is data (`data/*.toml`), not code.
//! Deliberately absent: reading from a cluster, measured utilisation, and any decision on what to run where.

mod cards;
pub mod catalogue;
pub mod cluster;
pub mod conditions;
pub mod dra;
pub mod fleet;
mod glob;
pub mod hami;
pub mod input;
pub mod labels;
pub mod listing;
pub mod live;
mod load;
pub mod mig;
pub mod name;
pub mod names;
pub mod node;
mod nvidia;
pub mod pending;
mod plugin;
pub mod pool;
pub mod provider;
pub mod quantity;
pub mod requests;
pub mod topology;
pub mod totals;
pub mod warnings;

pub use cluster::{ClusterInventory, inventory};
pub use fleet::{FleetInventory, FleetMember, Reading, fleet};
pub use listing::{ClusterInput, ClusterRows, Listing, Unread};
pub use live::{Change, LiveInventory, Touched};
pub use node::{NodeInventory, node_inventory};
pub use pool::{Holder, Pool};
pub use warnings::{Severity, Warning};
