//! What goes wrong on purpose, before or after a request is carried out.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Kms, errors};

/// What goes wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KmsFault {
    /// Nothing.
    #[default]
    None,
    /// The server is sealed.
    Sealed,
    /// Everything answers 500.
    Broken,
    /// Writes are applied and then answered with 500, as when an answer is lost.
    LostAnswers,
    /// Every answer is late by this much.
    Slow(Duration),
    /// Writes are applied and never answered: for the caller a timeout, though the value is there.
    Silent,
    /// A proxy in front answers 404 with a page of HTML, which is not the store's "absent".
    Html,
}

/// Carries a request out under the fault that is switched on.
pub(super) async fn apply(State(kms): State<Arc<Kms>>, request: Request, next: Next) -> Response {
    if let Some(cleaned) = cleaned(request.uri().path()) {
        return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, cleaned)]).into_response();
    }
    let fault = kms.stored().fault;
    let about_health = request.uri().path() == "/v1/sys/health";
    let writes = request.method() != Method::GET && !request.uri().path().starts_with("/v1/auth/");
    match fault {
        KmsFault::Sealed if !about_health => {
            return errors(StatusCode::SERVICE_UNAVAILABLE, &["Vault is sealed"]);
        }
        KmsFault::Broken => return errors(StatusCode::INTERNAL_SERVER_ERROR, &["internal error"]),
        KmsFault::Html => {
            let page = "<!doctype html><title>Not found</title>";
            return (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "text/html")], page).into_response();
        }
        KmsFault::Slow(by) => tokio::time::sleep(by).await,
        _ => {}
    }
    let answer = next.run(request).await;
    match fault {
        KmsFault::LostAnswers if writes && answer.status().is_success() => {
            errors(StatusCode::INTERNAL_SERVER_ERROR, &["context canceled"])
        }
        KmsFault::Silent if writes => std::future::pending().await,
        _ => answer,
    }
}

/// Where the server sends a path with `..`, `.` or an empty segment (measured: 307 to the cleaned path). A client
/// that followed would read the other path with its own token.
fn cleaned(path: &str) -> Option<String> {
    let inner = path.trim_end_matches('/');
    if !inner.split('/').skip(1).any(|segment| matches!(segment, "" | "." | "..")) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    Some(format!("/{}", kept.join("/")))
}
