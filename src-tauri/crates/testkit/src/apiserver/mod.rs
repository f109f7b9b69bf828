//! An API server on loopback TLS: versions, lists with paging and selectors, single objects, access reviews; bearer
//! tokens and client certificates; the statuses and wordings of a real one; faults on demand.
//!
//! Deliberately absent: writes. The demo's clusters change by [`ApiServer::change`] only.

mod access;
mod answer;
mod fault;
mod list;
mod pages;
mod proxied;
mod serve;
mod tls;
mod world;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use access::{Proof, Rights, User};
pub use fault::Fault;
pub use proxied::{Page, Series};
pub use tls::{Authority, ClientIdentity};
pub use world::{KINDS, Kind, World};

use crate::DemoError;
use crate::scenario::scale::Scale;
use fault::Faults;
use pages::Pages;

/// The state that requests see.
pub(crate) struct State {
    pub world: RwLock<World>,
    pub users: Vec<User>,
    pub version: String,
    pub faults: Mutex<Faults>,
    /// Answers so far under [`Fault::Flapping`].
    pub flaps: std::sync::atomic::AtomicU64,
    /// Nodes and pods of a cluster of any size, beside the world.
    pub pages: Option<Pages>,
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
        world: World,
        users: Vec<User>,
    ) -> Result<Self, DemoError> {
        Self::serve(authority, version, world, users, None).await
    }

    /// Starts a server of a large cluster. Its nodes and pods are made when a page is first asked for, and the page's
    /// bytes are kept, so that a second read costs the server nothing: what a benchmark measures is the client.
    ///
    /// # Errors
    /// Where no port can be bound or no certificate made.
    pub async fn start_large(
        authority: Authority,
        version: &str,
        scale: Scale,
        users: Vec<User>,
    ) -> Result<Self, DemoError> {
        let pages = Pages::new(scale);
        Self::serve(authority, version, pages.namespaces(), users, Some(pages)).await
    }

    async fn serve(
        authority: Authority,
        version: &str,
        mut world: World,
        users: Vec<User>,
        pages: Option<Pages>,
    ) -> Result<Self, DemoError> {
        world.sort();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(DemoError::io)?;
        let address = listener.local_addr().map_err(DemoError::io)?;
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(authority.server_config()?));
        let state = Arc::new(State {
            world: RwLock::new(world),
            users,
            version: version.to_owned(),
            faults: Mutex::default(),
            flaps: std::sync::atomic::AtomicU64::new(0),
            pages,
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

    /// Switches a fault of every route on or off.
    pub fn set_fault(&self, fault: Fault) {
        self.faults().everywhere = fault;
    }

    /// Switches a fault of the routes below a path on or off, such as `/api/v1/nodes`; it wins over the one of every
    /// route. [`Fault::BlackHole`] is one of requests here, not of connections.
    pub fn set_fault_below(&self, path: &str, fault: Fault) {
        let mut faults = self.faults();
        faults.below.retain(|(prefix, _)| prefix != path);
        if fault != Fault::None {
            faults.below.push((path.to_owned(), fault));
        }
    }

    fn faults(&self) -> std::sync::MutexGuard<'_, Faults> {
        self.state.faults.lock().unwrap_or_else(PoisonError::into_inner)
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
