//! A server that answers as told, and remembers what it was asked.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A request, as far as tests ask.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub token: Option<String>,
    pub body: Value,
}

/// An answer.
pub struct Told {
    pub status: u16,
    pub header: Option<(&'static str, String)>,
    pub body: Bytes,
}

impl Told {
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, header: None, body: Bytes::from(body.to_string()) }
    }

    /// A login as Vault answers it.
    pub fn login(token: &str, org: &str, lease: u64) -> Self {
        Self::json(
            200,
            &json!({"auth": {"client_token": token, "lease_duration": lease, "renewable": true,
                "metadata": {"org": org, "role": "muster"}}}),
        )
    }

    /// A KV mount of version 2, as Vault tells it.
    pub fn mount() -> Self {
        Self::json(200, &json!({"data": {"type": "kv", "path": "kv/", "options": {"version": "2"}}}))
    }

    pub fn absent() -> Self {
        Self::json(404, &json!({"errors": []}))
    }
}

/// The server; stops when dropped.
pub struct Scripted {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// Starts a server; `None` from the script means that it never answers.
    pub async fn start(script: impl Fn(&Asked) -> Option<Told> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            loop {
                let Ok((socket, _)) = listener.accept().await else { return };
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                        async move { Ok::<_, Infallible>(answer(request, &*script, &log).await) }
                    });
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
        Self { url, asked, task }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// How often a path was asked for.
    pub fn count(&self, path: &str) -> usize {
        self.asked().iter().filter(|asked| asked.path == path).count()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    script: &(impl Fn(&Asked) -> Option<Told> + ?Sized),
    log: &Mutex<Vec<Asked>>,
) -> Response<Full<Bytes>> {
    let asked = Asked {
        method: request.method().to_string(),
        path: request.uri().to_string(),
        token: request.headers().get("x-vault-token").map(|token| token.to_str().unwrap().to_owned()),
        body: serde_json::from_slice(&request.into_body().collect().await.unwrap().to_bytes())
            .unwrap_or(Value::Null),
    };
    log.lock().unwrap().push(asked.clone());
    let Some(told) = script(&asked) else { return std::future::pending().await };
    let mut response = Response::builder().status(told.status);
    if let Some((name, value)) = told.header {
        response = response.header(name, value);
    }
    response.body(Full::new(told.body)).unwrap()
}
