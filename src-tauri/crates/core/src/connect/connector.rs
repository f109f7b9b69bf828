//! From nothing to an encrypted connection: dial (through the proxy, where there is one), then TLS.
//!
//! Invariant: a connector knows one route and dials nothing else; the URI that it is asked for is not looked at. Each
//! step has its own limit and its own error.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::client::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::Service;

use super::material::{ProxyKind, ProxyTarget, Target};
use super::tcp::{self, Wire};
use super::{ConnectError, Dialer, Stage, tls};

/// The one way to one API server.
pub struct Route {
    pub server: Target,
    pub proxy: Option<ProxyTarget>,
    pub tls: Arc<ClientConfig>,
    pub name: ServerName<'static>,
    pub dialer: Dialer,
}

impl Route {
    async fn open(&self) -> Result<TlsStream<Wire>, ConnectError> {
        let tcp = match &self.proxy {
            None => tcp::dial(&self.dialer, &self.server).await?,
            Some(proxy) => self.tunnel(proxy).await?,
        };
        let server = self.server.label();
        let limit = self.dialer.budgets.tls;
        let handshake = TlsConnector::from(self.tls.clone()).connect(self.name.clone(), tcp);
        timeout(limit, handshake)
            .await
            .map_err(|_| ConnectError::Timeout {
                server: server.clone(),
                stage: Stage::TlsHandshake,
                after: limit,
            })?
            .map_err(|error| tls::handshake_fault(&server, &error))
    }

    async fn tunnel(&self, proxy: &ProxyTarget) -> Result<Wire, ConnectError> {
        let fault = |detail: String| ConnectError::Proxy {
            server: self.server.label(),
            proxy: proxy.label(),
            detail,
        };
        let tcp = tcp::dial(&self.dialer, &proxy.at).await.map_err(|error| match error {
            // The policy's refusal stays what it is: it is about an address, not about the proxy's work.
            refused @ ConnectError::AddressRefused { .. } => refused,
            other => fault(other.to_string()),
        })?;
        let uri = |target: &Target| {
            Uri::builder().scheme("https").authority(target.label()).path_and_query("/").build()
        };
        let to = uri(&self.server).map_err(|_| fault("the server's address cannot be passed on".into()))?;
        let via = uri(&proxy.at).map_err(|_| fault("its address cannot be used".into()))?;
        let opened = async {
            match proxy.kind {
                ProxyKind::Http => {
                    Tunnel::new(via, Dialled::new(tcp)).call(to).await.map_err(|e| e.to_string())
                }
                ProxyKind::Socks5 => {
                    SocksV5::new(via, Dialled::new(tcp)).call(to).await.map_err(|e| e.to_string())
                }
            }
        };
        let limit = self.dialer.budgets.proxy;
        match timeout(limit, opened).await {
            Ok(Ok(stream)) => Ok(stream.into_inner()),
            Ok(Err(detail)) => Err(fault(detail)),
            Err(_) => Err(fault(format!("it did not answer within {} s", limit.as_secs()))),
        }
    }
}

/// A connection that is there already, in the shape that hyper-util's proxy handshakes ask for. It is taken once.
struct Dialled(Arc<Mutex<Option<Wire>>>);

impl Dialled {
    fn new(stream: Wire) -> Self {
        Self(Arc::new(Mutex::new(Some(stream))))
    }
}

impl Service<Uri> for Dialled {
    type Response = TokioIo<Wire>;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<TokioIo<Wire>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        std::future::ready(taken.map(TokioIo::new).ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

/// Opens connections for hyper's pool.
#[derive(Clone)]
pub struct Connector(pub Arc<Route>);

impl Service<Uri> for Connector {
    type Response = Encrypted;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Encrypted, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let route = self.0.clone();
        Box::pin(async move { Ok(Encrypted(TokioIo::new(route.open().await?))) })
    }
}

/// An encrypted connection to the API server.
pub struct Encrypted(TokioIo<TlsStream<Wire>>);

impl Connection for Encrypted {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl Write for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
