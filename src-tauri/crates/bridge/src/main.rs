//! Development and test only: the command list over loopback HTTP, so that a browser can drive the UI on the demo org.
//!
//! `cargo run -p muster-bridge` serves the built UI and the commands, and prints where. It is never part of a bundle.
//!
//! Invariants: it listens on 127.0.0.1 only and refuses a request whose `Host` or `Origin` is another (DNS rebinding,
//! pages of other sites); it knows the demo org and no other. Deliberately absent: signing in to a real deployment.

mod demo;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream::{self, Stream};
use muster_api::dispatch::dispatch;
use muster_api::{App, Environment};
use muster_core::clock::SystemClock;
use muster_core::secrets::MemoryStore;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tower_http::services::ServeDir;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let filter = EnvFilter::new(muster_api::log_filter(&std::env::var("MUSTER_LOG").unwrap_or_default()));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let authority = listener.local_addr()?.to_string();
    let folder = tempfile::tempdir()?;
    let host = Arc::new(demo::FolderHost::new(folder.path().join("files"))?);
    let app = App::new(Environment {
        config_dir: folder.path().join("config"),
        state_dir: folder.path().join("state"),
        clock: Arc::new(SystemClock),
        secrets: Arc::new(MemoryStore::default()),
        browser: Environment::system_browser(),
        host: host.clone(),
        demo: Some(host),
    });
    let dist = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/dist");
    let own = authority.clone();
    let router = Router::new()
        .route("/command/{name}", post(command))
        .route("/events", get(events))
        .with_state(app)
        .fallback_service(ServeDir::new(dist))
        .layer(middleware::from_fn(move |request, next| only_from_here(own.clone(), request, next)));
    println!("http://{authority}");
    axum::serve(listener, router).await
}

async fn only_from_here(own: String, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str()).is_some_and(|host| host == own);
    let origin =
        text(headers, header::ORIGIN.as_str()).is_none_or(|origin| origin == format!("http://{own}"));
    if host && origin { next.run(request).await } else { StatusCode::FORBIDDEN.into_response() }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn command(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Json(request): Json<Value>,
) -> Response {
    match dispatch(&app, &name, request).await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, Json(error)).into_response(),
    }
}

async fn events(State(app): State<Arc<App>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(app.subscribe(), |mut events| async move {
        loop {
            match events.recv().await {
                Ok(event) => {
                    let event = Event::default().json_data(event).unwrap_or_default();
                    return Some((Ok(event), events));
                }
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}
