//! The demo org: an OpenID Connect provider, a Vault-shaped KMS and a fleet of API servers, in this process and on
//! loopback. It backs tests, benchmarks and the app's "Explore the demo fleet", which goes through the very same code
//! as a real org.
//!
//! Start at [`DemoOrg::start`]. Servers are in [`oidc`], [`kms`] and [`apiserver`]; the data they serve in
//! [`scenario`].
//!
//! Invariant: everything stops when the [`DemoOrg`] is dropped, and nothing listens on any address but 127.0.0.1.
//! Deliberately absent: the core's internals. The demo speaks to it as any server does, over HTTP.

pub mod apiserver;
mod demo;
mod keys;
pub mod kms;
mod kubeconfig;
mod loopback;
pub mod oidc;
pub mod person;
pub mod scenario;

pub use demo::{DemoOptions, DemoOrg};
pub use person::ScriptedPerson;

/// Why the demo could not be started.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// In words.
    #[error("{0}")]
    Start(String),
}

impl DemoError {
    fn io(error: std::io::Error) -> Self {
        Self::Start(format!("a server could not be started on 127.0.0.1: {error}"))
    }

    fn certificate(error: rcgen::Error) -> Self {
        Self::Start(format!("a certificate could not be made: {error}"))
    }

    fn tls(error: impl std::fmt::Display) -> Self {
        Self::Start(format!("TLS could not be set up: {error}"))
    }
}
