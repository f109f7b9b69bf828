//! An API server on loopback TLS: versions, lists with paging and selectors, single objects, access reviews; bearer
//! tokens and client certificates; the statuses and wordings of a real one; faults on demand.
//!
//! Deliberately absent: writes. The demo's clusters change by [`ApiServer::change`] only.

mod access;
mod answer;
mod list;
mod serve;
mod tls;
mod world;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use access::{Proof, Rights, User};
pub use tls::{Authority, ClientIdentity};
pub use world::{KINDS, Kind, World};

use crate::DemoError;

/// What goes wrong on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Connections are taken and never answered.
    BlackHole,
    /// Every answer is late by this much.
    Slow(Duration),
    /// Every answer has this status.
    Status(u16),
    /// A proxy's login page instead of Kubernetes.
    Html,
    /// A redirect to here.
    Redirect(String),
    /// The body ends early.
    Truncated,
    /// 429 with this `Retry-After`.
    RateLimited(String),
}

/// The state that requests see.
pub(crate) struct State {
    pub world: RwLock<World>,
    pub users: Vec<User>,
    pub version: String,
    pub fault: Mutex<Fault>,
    /// Changes with the world; a continue token of an older one has expired.
    pub revision: std::sync::atomic::AtomicU64,
}

/// A running server.
pub struct ApiServer {
    address: SocketAddr,
    authority: Authority,
    state: Arc<State>,
    task: Option<JoinHandle<()>>,
}

impl ApiServer {
    /// Starts a server. `version` is the Kubernetes release it claims to be.
    ///
    /// # Errors
    /// Where no port can be bound or no certificate made.
    pub async fn start(
        authority: Authority,
        version: &str,
        mut world: World,
        users: Vec<User>,
    ) -> Result<Self, DemoError> {
        world.sort();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(DemoError::io)?;
        let address = listener.local_addr().map_err(DemoError::io)?;
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(authority.server_config()?));
        let state = Arc::new(State {
            world: RwLock::new(world),
            users,
            version: version.to_owned(),
            fault: Mutex::default(),
            revision: std::sync::atomic::AtomicU64::new(1000),
        });
        let task = tokio::spawn(serve::accept(listener, acceptor, Arc::clone(&state)));
        Ok(Self { address, authority, state, task: Some(task) })
    }

    /// `https://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The cluster's authority.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Switches a fault on or off.
    pub fn set_fault(&self, fault: Fault) {
        *self.state.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Changes the cluster's objects.
    pub fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.state.world.write().unwrap_or_else(PoisonError::into_inner));
        self.state.revision.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }

    /// Stops answering: connections are refused from now on.
    pub fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.stop();
    }
}
