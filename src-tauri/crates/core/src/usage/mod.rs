//! Live use of accelerators, where a cluster measures it: how busy each card is, its memory, power, heat and last error,
//! and which cards are held and do nothing.
//!
//! An optional layer over the inventory, read only for a cluster that a person switched it on for: [`find_sources`] names
//! the services of the cluster that serve such measurements, and [`read_use`] reads one of them through the API server
//! (`get` on `services/proxy`, and for exporters, which know one node each, on `pods/proxy`).
//!
//! The way of a number: text of an exporter ([`exposition`]) or an answer of Prometheus ([`promql`]) -> [`metrics`] (what
//! a name measures) -> [`cards`] (put together by card).
//!
//! Invariants:
//! - What may be asked is closed: services by the table in [`sources`], paths and queries by this module. A caller names
//!   one of the sources that were found, and nothing else.
//! - What was not measured is `None`, never 0, and how many nodes were read stands beside every sum.
//! - The inventory never waits for this, and never changes by it.
//!
//! Deliberately absent: history (Prometheus has it), alerts, and utilisation of CPU or memory (metrics.k8s.io has it).

pub mod cards;
pub mod exposition;
pub mod metrics;
pub mod promql;
mod read;
pub mod sources;

pub use cards::{CardUse, UseHolder, judge_by_inventory};
pub use read::{NodeUse, UseError, UseReading, find_sources, read_use};
pub use sources::{SourceId, SourceKind, UseSource};
