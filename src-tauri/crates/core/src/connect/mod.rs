//! From a kubeconfig that passed the gate to a client of one API server.
//!
//! Invariants:
//! - Only [`crate::registry`] calls [`connect`]; there is no other constructor of a client in the program.
//! - Every address is judged by the [`EndpointPolicy`] after name resolution, and the address that was judged is the one
//!   that is dialled: no second look-up.
//! - Nothing of the environment has a say: no proxy variable, no kubeconfig variable, no in-cluster account.
//! - The credential goes to the registered host only: redirects are not followed, and TLS is always verified.
//!
//! Where the kubeconfig names a proxy, it is the proxy's address that is judged and dialled; the API server's name is
//! resolved by the proxy, which may see a network that this computer does not.
//!
//! Deliberately absent: retries and rate limits (see [`crate::reads`] and [`crate::fleet`]), running credential plugins,
//! reading credential files.

mod access;
mod answer;
mod body;
mod budgets;
mod client;
mod connector;
mod error;
mod material;
mod path;
mod read_error;
mod resolve;
#[cfg(test)]
pub(crate) mod scripted;
mod tcp;
#[cfg(test)]
mod tests;
mod tls;

use std::sync::Arc;

pub use access::{AccessAnswer, AccessQuestion, Verb};
pub use budgets::Budgets;
pub use client::{ClusterClient, ServerVersion};
pub use error::{ConnectError, Stage};
pub(crate) use path::PodPath;
pub use path::{DraVersion, Resource, ResourcePath};
pub use read_error::ReadError;
pub use resolve::{Resolve, SystemResolver};

use crate::clock::{Clock, SystemClock};
use crate::endpoint::EndpointPolicy;
use crate::kubeconfig::SafeKubeconfig;

/// What every dial of this deployment has in common.
#[derive(Clone)]
pub struct Dialer {
    policy: EndpointPolicy,
    resolver: Arc<dyn Resolve>,
    tcp: Arc<dyn tcp::OpenTcp>,
    clock: Arc<dyn Clock>,
    budgets: Budgets,
    user_agent: String,
}

impl Dialer {
    /// Dials through the operating system, within the default [`Budgets`].
    pub fn new(policy: EndpointPolicy) -> Self {
        Self {
            policy,
            resolver: Arc::new(SystemResolver),
            tcp: Arc::new(tcp::SystemTcp),
            clock: Arc::new(SystemClock),
            budgets: Budgets::default(),
            user_agent: format!(
                "muster/{} ({}/{})",
                env!("CARGO_PKG_VERSION"),
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
        }
    }

    /// Where API servers and proxies may be.
    #[must_use]
    pub fn policy(&self) -> EndpointPolicy {
        self.policy
    }

    /// Looks names up elsewhere.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Takes the time from elsewhere (only for words about certificates and clocks).
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Other limits.
    #[must_use]
    pub fn with_budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }
}

/// Builds the client of the API server that the kubeconfig names. Nothing is dialled before the first read.
///
/// # Errors
/// [`ConnectError::Kubeconfig`] where the material cannot be used, and [`ConnectError::AddressRefused`] where the server
/// or proxy is a literal address outside the policy.
pub(crate) async fn connect(
    kubeconfig: &SafeKubeconfig,
    dialer: &Dialer,
) -> Result<ClusterClient, ConnectError> {
    ClusterClient::build(kubeconfig, dialer).await
}
