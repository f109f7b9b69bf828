//! Everything Muster does, without a window: sign in, keep the registry, reach a cluster, read it, count its accelerators.
//!
//! Start here. The way of one read is always the same, and nothing may skip a step:
//!
//! [`signin`] verifies a person and yields a [`tenant::Tenant`] -> [`registry::Registry::reach`] resolves a cluster by
//! name for that tenant -> [`registry::Bound::scope`] resolves the namespaces -> [`reads`] folds pages into rows ->
//! a pure function of [`inventory`] or [`views`].
//!
//! Invariants:
//! - Every operation names its cluster; there is no current cluster and no ambient kubeconfig.
//! - The org comes from a verified identity only; no function takes it as a plain argument.
//! - A credential is never written, logged, put in an error text or returned.
//!
//! Deliberately absent: Tauri, the types that cross to the web view (see `muster-api`), any global state.

pub mod clock;
pub mod connect;
pub mod deployment;
pub mod endpoint;
pub mod fleet;
pub mod inventory;
pub mod kms;
pub mod kubeconfig;
pub mod reads;
pub mod registry;
pub mod secrets;
pub mod signin;
pub mod tenant;
pub mod usage;
pub mod views;

/// What Muster calls itself to servers: `muster/<version> (<os>/<arch>)`.
pub fn user_agent() -> String {
    format!("muster/{} ({}/{})", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}
