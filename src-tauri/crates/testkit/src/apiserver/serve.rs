//! Connections, requests, and the way from a path to an answer.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::access::{Proof, User};
use super::answer::{self, Answer};
use super::fault::{self, Body};
use super::list::{self, Asked};
use super::{Fault, State, proxied, tls, world};

/// Takes connections until dropped.
pub async fn accept(listener: TcpListener, acceptor: TlsAcceptor, state: Arc<State>) {
    // Connections live in this set, so that they end with the server.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (acceptor, state) = (acceptor.clone(), Arc::clone(&state));
        connections.spawn(async move {
            if fault::of(&state, None) == Fault::BlackHole {
                std::future::pending::<()>().await;
            }
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let certificates = stream.get_ref().1.peer_certificates();
            let name = certificates.and_then(|chain| chain.first()).and_then(tls::common_name);
            let service = service_fn(move |request| {
                let (state, name) = (Arc::clone(&state), name.clone());
                async move { Ok::<_, Infallible>(respond(&state, request, name).await) }
            });
            // A client that goes away is no fault of the server's.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn respond(
    state: &State,
    request: Request<Incoming>,
    certificate: Option<String>,
) -> http::Response<Body> {
    let gzip = accepts_gzip(&request);
    let fault = fault::of(state, Some(request.uri().path()));
    if let Some(instead) = fault::before(&fault, state).await {
        return instead;
    }
    fault::after(&fault, healthy(state, request, certificate, gzip).await).await
}

async fn healthy(
    state: &State,
    request: Request<Incoming>,
    certificate: Option<String>,
    gzip: bool,
) -> Answer {
    let Some(user) = authenticate(state, &request, certificate.as_deref()) else {
        return answer::status(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized");
    };
    compress(route(state, user, request, gzip).await, gzip).await
}

fn accepts_gzip(request: &Request<Incoming>) -> bool {
    let accepted = request.headers().get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|value| value.contains("gzip"))
}

/// As the API server does (APIResponseCompression): large bodies only, at the fastest level.
async fn compress(answer: Answer, wanted: bool) -> Answer {
    const FROM_BYTES: usize = 128 * 1024;
    if answer.headers().contains_key(header::CONTENT_ENCODING) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let Ok(body) = body.collect().await;
    let body = body.to_bytes();
    if !wanted || body.len() < FROM_BYTES {
        return Answer::from_parts(parts, body.into());
    }
    match pack(&body) {
        Ok(packed) => {
            parts.headers.insert(header::CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
            Answer::from_parts(parts, Bytes::from(packed).into())
        }
        Err(_) => Answer::from_parts(parts, body.into()),
    }
}

/// Gzip at the API server's level.
pub(super) fn pack(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

fn authenticate<'a>(
    state: &'a State,
    request: &Request<Incoming>,
    certificate: Option<&str>,
) -> Option<&'a User> {
    let bearer = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
    state.users.iter().find(|user| match &user.proof {
        Proof::Token(token) => bearer == Some(token),
        Proof::CommonName(name) => bearer.is_none() && certificate == Some(name),
    })
}

async fn route(state: &State, user: &User, request: Request<Incoming>, gzip: bool) -> Answer {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    if request.method() == Method::POST {
        return match segments.as_slice() {
            ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"] => review(user, request).await,
            _ => answer::status(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", "the demo is read only"),
        };
    }
    if request.method() != Method::GET {
        return answer::status(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", "the demo is read only");
    }
    let (group, version, rest) = match segments.as_slice() {
        ["version"] => return version_answer(&state.version),
        ["healthz" | "readyz" | "livez"] => {
            return answer::raw(StatusCode::OK, "text/plain", Bytes::from_static(b"ok"));
        }
        ["api"] => return answer::json(StatusCode::OK, &json!({"kind": "APIVersions", "versions": ["v1"]})),
        ["apis"] => return groups(state),
        ["apis", group] => return one_group(state, group),
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return answer::no_such_path(),
    };
    if state.world.read().unwrap_or_else(PoisonError::into_inner).without.contains(&group) {
        return answer::no_such_path();
    }
    match rest {
        [] => resources(group, version),
        ["namespaces", namespace, plural @ ("services" | "pods"), _, "proxy", ..] if group.is_empty() => {
            if !user.may_read(&format!("{plural}/proxy"), Some(namespace)) {
                return answer::forbidden(
                    &user.name,
                    "get",
                    &format!("{plural}/proxy"),
                    group,
                    Some(namespace),
                );
            }
            let world = state.world.read().unwrap_or_else(PoisonError::into_inner);
            proxied::answer(world.pages.get(&path), &query)
        }
        ["namespaces", namespace, plural] => {
            read(state, user, (group, version, plural), Some(namespace), None, &query, gzip)
        }
        ["namespaces", namespace, plural, name] => {
            read(state, user, (group, version, plural), Some(namespace), Some(name), &query, gzip)
        }
        [plural] => read(state, user, (group, version, plural), None, None, &query, gzip),
        [plural, name] => read(state, user, (group, version, plural), None, Some(name), &query, gzip),
        _ => answer::no_such_path(),
    }
}

fn read(
    state: &State,
    user: &User,
    (group, version, plural): (&str, &str, &str),
    namespace: Option<&str>,
    name: Option<&str>,
    query: &str,
    gzip: bool,
) -> Answer {
    let verb = if name.is_some() { "get" } else { "list" };
    // A namespace itself is read with the rights inside it.
    let scope = namespace.or(name.filter(|_| plural == "namespaces"));
    if !user.may_read(plural, scope) {
        return answer::forbidden(&user.name, verb, plural, group, namespace);
    }
    let Some(kind) = world::find(group, version, plural) else { return answer::no_such_path() };
    let asked = Asked::read(query);
    let revision = state.revision.load(Ordering::SeqCst);
    if let Some(pages) = &state.pages
        && name.is_none()
        && let Some(page) = pages.page(kind, namespace, &asked, revision, gzip)
    {
        return page.unwrap_or_else(|list::Expired| expired());
    }
    let world = state.world.read().unwrap_or_else(PoisonError::into_inner);
    let objects = world.list(kind).iter().filter(|object| list::matches(object, namespace, &asked));
    if let Some(name) = name {
        return match objects.into_iter().find(|object| world::text(object, "name") == name) {
            Some(object) => answer::json(StatusCode::OK, object),
            None => {
                answer::status(StatusCode::NOT_FOUND, "NotFound", &format!("{plural} \"{name}\" not found"))
            }
        };
    }
    match list::page(kind, objects, &asked, revision) {
        Ok(page) => answer::raw(StatusCode::OK, "application/json", page.into()),
        Err(list::Expired) => expired(),
    }
}

fn expired() -> Answer {
    let text = "The provided continue parameter is too old to display a consistent list result.";
    answer::status(StatusCode::GONE, "Expired", text)
}

fn version_answer(version: &str) -> Answer {
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"));
    let body = json!({"major": major, "minor": minor, "gitVersion": version, "platform": "linux/amd64", "goVersion": "go1.26.8"});
    answer::json(StatusCode::OK, &body)
}

fn group_object(group: &str) -> Value {
    let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
    json!({"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": [version], "preferredVersion": version})
}

fn served(state: &State) -> Vec<&'static str> {
    let without = state.world.read().unwrap_or_else(PoisonError::into_inner).without.clone();
    let mut groups: Vec<_> =
        world::KINDS.into_iter().map(|kind| kind.group).filter(|g| !g.is_empty()).collect();
    groups.dedup();
    groups.retain(|group| !without.contains(group));
    groups
}

fn groups(state: &State) -> Answer {
    let groups: Vec<Value> = served(state).into_iter().map(group_object).collect();
    answer::json(StatusCode::OK, &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
}

fn one_group(state: &State, group: &str) -> Answer {
    if served(state).contains(&group) {
        answer::json(StatusCode::OK, &group_object(group))
    } else {
        answer::no_such_path()
    }
}

fn resources(group: &str, version: &str) -> Answer {
    let kinds: Vec<Value> = world::KINDS
        .into_iter()
        .filter(|kind| kind.group == group && kind.version == version)
        .map(|kind| json!({"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced, "verbs": ["get", "list"]}))
        .collect();
    if kinds.is_empty() {
        return answer::no_such_path();
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    answer::json(
        StatusCode::OK,
        &json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": kinds}),
    )
}

async fn review(user: &User, request: Request<Incoming>) -> Answer {
    let bad = || answer::status(StatusCode::BAD_REQUEST, "BadRequest", "the review cannot be read");
    let Ok(body) = Limited::new(request.into_body(), 64 * 1024).collect().await else { return bad() };
    let Ok(mut review) = serde_json::from_slice::<Value>(&body.to_bytes()) else { return bad() };
    let attributes = &review["spec"]["resourceAttributes"];
    let text = |name: &str| attributes[name].as_str().filter(|value| !value.is_empty());
    let reads = matches!(text("verb"), Some("get" | "list" | "watch"));
    let allowed = reads && user.may_read(text("resource").unwrap_or_default(), text("namespace"));
    review["status"] = json!({"allowed": allowed});
    answer::json(StatusCode::CREATED, &review)
}
