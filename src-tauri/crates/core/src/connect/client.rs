//! The client of one API server.
//!
//! Invariant: a request goes to the registered server and to nowhere else; its path comes from [`ResourcePath`], the only
//! thing that is ever sent with a body is an access review, and the credential is in memory that is wiped with the client.
//!
//! Deliberately absent: a method that takes a URL, and any method that changes a cluster (later issues add those one by
//! one).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use jiff::SignedDuration;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::body::Body;
use super::connector::{Connector, Route};
use super::{
    AccessAnswer, AccessQuestion, Budgets, ConnectError, Dialer, ReadError, ResourcePath, Stage, access,
    answer, material, tcp, tls,
};
use crate::clock::Clock;
use crate::kubeconfig::{SafeKubeconfig, printable};

/// The largest answer of one object, in bytes. etcd holds objects of up to 1.5 MiB.
const OBJECT_LIMIT: u64 = 4 * 1024 * 1024;
/// How long an unused connection is kept. Load balancers drop them after a minute or more.
const POOL_IDLE: Duration = Duration::from_secs(45);

/// Plain JSON.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The text of exporters.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain;version=0.0.4");
/// Lists go without `managedFields` where the server can leave them out (KEP-5958); others pass over the first choice.
const LEAN_JSON: HeaderValue =
    HeaderValue::from_static("application/json;drop=metadata.managedFields, application/json");

/// The client of one API server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct ClusterClient {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for ClusterClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterClient").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

/// What the clones of a client share.
pub struct Shared {
    /// `host:port`, for errors.
    pub server: String,
    /// `https://host:port` and the path that the kubeconfig's server address has.
    base: String,
    pool: Pool<Connector, Full<Bytes>>,
    pub authorization: Option<HeaderValue>,
    user_agent: HeaderValue,
    pub budgets: Budgets,
    pub clock: Arc<dyn Clock>,
    /// Seconds that the server's clock is ahead, as last seen; `i64::MIN` where nothing worth saying was seen.
    skew: AtomicI64,
}

/// What `/version` says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// `v1.36.2`, with whatever the distribution appends.
    pub git_version: String,
    /// `1`.
    #[serde(default)]
    pub major: String,
    /// `36`, on some providers with a `+`.
    #[serde(default)]
    pub minor: String,
    /// `linux/amd64`.
    #[serde(default)]
    pub platform: String,
}

impl ClusterClient {
    pub(super) async fn build(kubeconfig: &SafeKubeconfig, dialer: &Dialer) -> Result<Self, ConnectError> {
        let material = material::material(kubeconfig)?;
        tcp::judge_literal(dialer, &material.server.host)?;
        if let Some(proxy) = &material.proxy {
            tcp::judge_literal(dialer, &proxy.at.host)?;
        }
        let name = tls::server_name(material.server_name.as_deref().unwrap_or(&material.server.host))?;
        let (authorities, identity, clock) = (material.authorities, material.identity, dialer.clock.clone());
        // Without an authority of its own, the operating system's are read from disk.
        let settings = tokio::task::spawn_blocking(move || tls::settings(authorities, identity, clock))
            .await
            .map_err(|_| ConnectError::Kubeconfig { what: "its TLS material could not be read".into() })??;
        let server = material.server.label();
        let route = Route {
            server: material.server,
            proxy: material.proxy,
            tls: Arc::new(settings),
            name,
            dialer: dialer.clone(),
        };
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .build(Connector(Arc::new(route)));
        let user_agent = HeaderValue::from_str(&dialer.user_agent)
            .map_err(|_| ConnectError::Kubeconfig { what: "the user agent is not a header".into() })?;
        let base = format!("https://{server}{}", material.prefix);
        Ok(Self {
            shared: Arc::new(Shared {
                server,
                base,
                pool,
                authorization: material.authorization,
                user_agent,
                budgets: dialer.budgets,
                clock: dialer.clock.clone(),
                skew: AtomicI64::new(i64::MIN),
            }),
        })
    }

    /// The API server as `host:port`.
    pub fn server(&self) -> &str {
        &self.shared.server
    }

    /// The limits that this client keeps.
    pub fn budgets(&self) -> Budgets {
        self.shared.budgets
    }

    /// How far the server's clock is ahead of this computer's, where the last answer showed a difference of two
    /// minutes or more.
    pub fn clock_skew(&self) -> Option<SignedDuration> {
        let seconds = self.shared.skew.load(Ordering::Relaxed);
        (seconds != i64::MIN).then(|| SignedDuration::from_secs(seconds))
    }

    /// The server's version: the cheapest proof that a Kubernetes API answers.
    ///
    /// # Errors
    /// [`ReadError`], with every fault of the connection and the answer.
    pub async fn version(&self) -> Result<ServerVersion, ReadError> {
        self.get_json(&ResourcePath::version()).await
    }

    /// Asks the cluster what the credential may do.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn access(&self, question: &AccessQuestion) -> Result<AccessAnswer, ReadError> {
        let review = self.encode(&access::review(question))?;
        let path = ResourcePath::access_reviews();
        let response = self.send(Method::POST, path.as_str(), JSON, Some(review)).await?;
        Ok(access::answer(self.object(response).await?))
    }

    /// Lists at most one object: the proof that a list is allowed and answered.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn prove_list(&self, path: &ResourcePath) -> Result<(), ReadError> {
        #[derive(Deserialize)]
        struct Kind {
            kind: String,
        }
        let response = self.send(Method::GET, &format!("{}?limit=1", path.as_str()), LEAN_JSON, None).await?;
        let list: Kind = self.object(response).await?;
        if list.kind == path.expected_kind() {
            Ok(())
        } else {
            Err(ReadError::WrongKind { server: self.shared.server.clone(), expected: path.expected_kind() })
        }
    }

    /// One object.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn get_json<T: DeserializeOwned>(&self, path: &ResourcePath) -> Result<T, ReadError> {
        let response = self.send(Method::GET, path.as_str(), JSON, None).await?;
        self.object(response).await
    }

    /// One JSON answer of at most `limit` bytes.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn get_json_within<T: DeserializeOwned>(
        &self,
        path: &ResourcePath,
        limit: u64,
    ) -> Result<T, ReadError> {
        let response = self.send(Method::GET, path.as_str(), JSON, None).await?;
        let body = Body::new(&self.shared, response, limit)?.collect().await?;
        serde_json::from_slice(&body).map_err(|error| decode(&self.shared.server, &body, &error))
    }

    /// The metrics that a pod serves, as text of at most `limit` bytes. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn get_text(&self, path: &ResourcePath, limit: u64) -> Result<String, ReadError> {
        let response = self.send(Method::GET, path.as_str(), TEXT, None).await?;
        let body = Body::new(&self.shared, response, limit)?.collect().await?;
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// One object, as the bytes of its JSON.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn get_bytes(&self, path: &ResourcePath) -> Result<Vec<u8>, ReadError> {
        let response = self.send(Method::GET, path.as_str(), JSON, None).await?;
        Body::new(&self.shared, response, OBJECT_LIMIT)?.collect().await
    }

    /// One page of a list, to be read in pieces. `query` is already encoded; `limit` is in decompressed bytes.
    pub(crate) async fn open_list(
        &self,
        path: &ResourcePath,
        query: &str,
        limit: u64,
    ) -> Result<Body, ReadError> {
        let path_and_query = format!("{}?{query}", path.as_str());
        let response = self.send(Method::GET, &path_and_query, LEAN_JSON, None).await?;
        Body::new(&self.shared, response, limit)
    }

    async fn object<T: DeserializeOwned>(&self, response: Response<Incoming>) -> Result<T, ReadError> {
        let body = Body::new(&self.shared, response, OBJECT_LIMIT)?.collect().await?;
        serde_json::from_slice(&body).map_err(|error| decode(&self.shared.server, &body, &error))
    }

    fn encode(&self, value: &impl serde::Serialize) -> Result<Bytes, ReadError> {
        let server = self.shared.server.clone();
        serde_json::to_vec(value).map(Bytes::from).map_err(|_| ReadError::Decode {
            server,
            what: "a question that cannot be written",
            offset: 0,
        })
    }

    /// Sends a request and checks the head of the answer. A GET whose connection broke before any answer came is sent
    /// once more: the pool may have handed out a connection that the other side had already dropped.
    async fn send(
        &self,
        method: Method,
        path: &str,
        accept: HeaderValue,
        body: Option<Bytes>,
    ) -> Result<Response<Incoming>, ReadError> {
        let again = method == Method::GET;
        let wants_text = accept == TEXT;
        let request = || self.request(&method, path, accept.clone(), body.clone());
        let response = match self.exchange(request()?).await {
            Err(ReadError::Broken { .. }) if again => self.exchange(request()?).await?,
            other => other?,
        };
        let skew = answer::skew(response.headers(), self.shared.clock.now());
        self.shared.skew.store(skew.map_or(i64::MIN, |skew| skew.as_secs()), Ordering::Relaxed);
        answer::checked(&self.shared, path.split('?').next().unwrap_or_default(), wants_text, response).await
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        accept: HeaderValue,
        body: Option<Bytes>,
    ) -> Result<Request<Full<Bytes>>, ReadError> {
        let shared = &self.shared;
        let mut request = Request::builder()
            .method(method.clone())
            .uri(format!("{}{path}", shared.base))
            .header(ACCEPT, accept)
            .header(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))
            .header(USER_AGENT, shared.user_agent.clone());
        if let Some(authorization) = &shared.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        request.body(Full::new(body.unwrap_or_default())).map_err(|_| {
            let what = "its server address cannot be part of a request".to_owned();
            ReadError::Connect(ConnectError::Kubeconfig { what })
        })
    }

    /// Waits for the head of the answer. Connecting has limits of its own; the limit for the first byte counts from
    /// when there is a connection.
    async fn exchange(&self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ReadError> {
        let shared = &self.shared;
        let mut connected = capture_connection(&mut request);
        let response = shared.pool.request(request);
        tokio::pin!(response);
        let outcome = tokio::select! {
            biased;
            outcome = &mut response => outcome,
            // The guard on the metadata is dropped inside, so that it is not held while waiting for the answer.
            () = async { drop(connected.wait_for_connection_metadata().await) } => {
                let limit = shared.budgets.first_byte;
                timeout(limit, response).await.map_err(|_| ReadError::Timeout {
                    server: shared.server.clone(),
                    stage: Stage::FirstByte,
                    after: limit,
                })?
            }
        };
        outcome.map_err(|error| broken(&shared.server, &error))
    }
}

/// What a failed exchange means: the connector's own error where there is one inside, or a TLS alert that came late (a
/// TLS 1.3 server turns a client certificate down only after the handshake), or a broken connection.
pub fn broken(server: &str, error: &(dyn std::error::Error + 'static)) -> ReadError {
    let mut at = Some(error);
    let mut innermost = error;
    while let Some(error) = at {
        if let Some(found) = error.downcast_ref::<ConnectError>() {
            return ReadError::Connect(found.clone());
        }
        innermost = error;
        at = error.source();
    }
    if let Some(found) = tls::tls_error(error).filter(|e| matches!(e, rustls::Error::AlertReceived(_))) {
        return ReadError::Connect(tls::fault(server.to_owned(), found));
    }
    ReadError::Broken { server: server.to_owned(), detail: printable(&innermost.to_string()) }
}

/// Turns a parser's error into a place; its text may quote the body and is dropped.
pub fn decode(server: &str, body: &[u8], error: &serde_json::Error) -> ReadError {
    use serde_json::error::Category;
    let what = match error.classify() {
        Category::Eof => "JSON that ends too early",
        Category::Data => "a field of another type than Kubernetes gives it",
        Category::Syntax | Category::Io => "something that is not JSON",
    };
    let lines_before = body.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let offset = lines_before.map(<[u8]>::len).sum::<usize>() + error.column();
    ReadError::Decode { server: server.to_owned(), what, offset: offset as u64 }
}
