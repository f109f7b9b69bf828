//! Plain HTTP servers on loopback, stopped when dropped.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A server on an ephemeral port of 127.0.0.1.
pub struct Loopback {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Loopback {
    /// Serves what `routes` makes of the server's own base URL.
    ///
    /// # Errors
    /// Where no port could be bound.
    pub async fn serve(routes: impl FnOnce(&str) -> Router) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let router = routes(&format!("http://{address}"));
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "a demo server stopped");
            }
        });
        Ok(Self { address, task })
    }

    /// `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}
