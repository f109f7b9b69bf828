//! KV version 2: versions, check-and-set, soft delete, destroy, purge and directories, behind one policy per org.
//!
//! Three states that answer 404 are kept apart as the real server does: absent (`{"errors":[]}`), deleted and destroyed
//! (`data.data` is null beside the version's metadata).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Kms, MOUNT, denied, denied_by_policy, errors};

/// As raft stores one entry, in bytes.
const MAX_VALUE: usize = 1_048_576;

/// One version of a secret.
enum Version {
    Live(Value),
    /// Deleted, and brought back by undelete.
    Deleted(Value),
    Destroyed,
}

/// Every secret, by path.
#[derive(Default)]
pub(super) struct Secrets(BTreeMap<String, Vec<Version>>);

impl Secrets {
    pub(super) fn seed(&mut self, path: &str, value: Value) {
        self.0.entry(path.to_owned()).or_default().push(Version::Live(value));
    }

    /// Versions whose value is still there, deleted ones included: what a leak could read.
    pub(super) fn left(&self, path: &str) -> usize {
        let there = |version: &&Version| !matches!(version, Version::Destroyed);
        self.0.get(path).map_or(0, |versions| versions.iter().filter(there).count())
    }

    fn read(&self, path: &str, wanted: Option<usize>) -> Response {
        let absent = || errors(StatusCode::NOT_FOUND, &[]);
        let Some(versions) = self.0.get(path) else { return absent() };
        let number = wanted.filter(|wanted| *wanted > 0).unwrap_or(versions.len());
        let Some(version) = number.checked_sub(1).and_then(|at| versions.get(at)) else { return absent() };
        let metadata = version_metadata(number, version);
        match version {
            Version::Live(data) => {
                Json(json!({"data": {"data": data, "metadata": metadata}})).into_response()
            }
            Version::Deleted(_) | Version::Destroyed => {
                let body = json!({"data": {"data": null, "metadata": metadata}});
                (StatusCode::NOT_FOUND, Json(body)).into_response()
            }
        }
    }

    fn write(&mut self, path: &str, body: &[u8]) -> Response {
        let Ok(write) = serde_json::from_slice::<Write>(body) else {
            return errors(StatusCode::BAD_REQUEST, &["no data provided"]);
        };
        if body.len() > MAX_VALUE {
            let text = format!(
                "put failed due to value being too large; got {} bytes, max: {MAX_VALUE} bytes",
                body.len()
            );
            return errors(StatusCode::INTERNAL_SERVER_ERROR, &[&text]);
        }
        // After a soft delete the right number is still that of the last version; after a purge it is 0 again.
        let current = self.0.get(path).map_or(0, Vec::len);
        if let Some(cas) = write.options.get("cas").and_then(Value::as_u64)
            && cas != current as u64
        {
            return errors(
                StatusCode::BAD_REQUEST,
                &["check-and-set parameter did not match the current version"],
            );
        }
        let version = Version::Live(Value::Object(write.data));
        let metadata = version_metadata(current + 1, &version);
        self.0.entry(path.to_owned()).or_default().push(version);
        Json(json!({"data": metadata})).into_response()
    }

    /// Changes some versions: the last where none is named.
    fn change(&mut self, path: &str, body: &[u8], change: fn(Version) -> Version) -> Response {
        let numbers = match serde_json::from_slice::<Numbers>(body) {
            Ok(numbers) => numbers.versions,
            Err(_) if body.is_empty() => self.0.get(path).map(Vec::len).into_iter().collect(),
            Err(_) => return errors(StatusCode::BAD_REQUEST, &["No version number provided"]),
        };
        if let Some(versions) = self.0.get_mut(path) {
            for number in numbers {
                if let Some(version) = number.checked_sub(1).and_then(|at| versions.get_mut(at)) {
                    let was = std::mem::replace(version, Version::Destroyed);
                    *version = change(was);
                }
            }
        }
        StatusCode::NO_CONTENT.into_response()
    }

    fn metadata(&self, path: &str) -> Response {
        let Some(versions) = self.0.get(path) else { return errors(StatusCode::NOT_FOUND, &[]) };
        let each: Map<String, Value> = versions
            .iter()
            .enumerate()
            .map(|(at, version)| ((at + 1).to_string(), version_metadata(at + 1, version)))
            .collect();
        let data = json!({"current_version": versions.len(), "oldest_version": 1, "max_versions": 0,
            "cas_required": false, "versions": each});
        Json(json!({"data": data})).into_response()
    }

    /// The names directly below a directory; those that end in `/` are directories.
    fn list(&self, directory: &str) -> Response {
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let mut keys: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .map(|rest| rest.split_once('/').map_or_else(|| rest.to_owned(), |(name, _)| format!("{name}/")))
            .collect();
        keys.dedup();
        if keys.is_empty() {
            return errors(StatusCode::NOT_FOUND, &[]);
        }
        Json(json!({"data": {"keys": keys}})).into_response()
    }
}

fn version_metadata(number: usize, version: &Version) -> Value {
    json!({
        "version": number,
        "created_time": "2026-01-01T00:00:00Z",
        "deletion_time": if matches!(version, Version::Deleted(_)) { "2026-01-01T00:00:01Z" } else { "" },
        "destroyed": matches!(version, Version::Destroyed),
        "custom_metadata": null,
    })
}

fn deleted(version: Version) -> Version {
    match version {
        Version::Live(value) => Version::Deleted(value),
        other => other,
    }
}

fn undeleted(version: Version) -> Version {
    match version {
        Version::Deleted(value) => Version::Live(value),
        other => other,
    }
}

#[derive(Deserialize)]
struct Write {
    data: Map<String, Value>,
    #[serde(default)]
    options: Map<String, Value>,
}

#[derive(Deserialize)]
struct Numbers {
    versions: Vec<usize>,
}

/// Everything below the mount.
pub(super) async fn secret(
    State(kms): State<Arc<Kms>>,
    Path((mount, kind, path)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some((_, token)) = kms.token(&headers) else { return denied() };
    if mount != MOUNT {
        let text = format!("no handler for route \"{mount}/{kind}/{path}\". route entry not found.");
        return errors(StatusCode::NOT_FOUND, &[&text]);
    }
    if !path.starts_with(&format!("orgs/{}/k8s/", token.org)) {
        return denied_by_policy();
    }
    let query = query.unwrap_or_default();
    let asked = |name: &str| {
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    };
    let lists = method.as_str() == "LIST" || asked("list").as_deref() == Some("true");
    let secrets = &mut kms.stored().secrets;
    match (kind.as_str(), method) {
        ("metadata", _) if lists => secrets.list(&path),
        ("metadata", Method::GET) => secrets.metadata(&path),
        ("metadata", Method::DELETE) => {
            // Idempotent: 204 for what was never there, too.
            secrets.0.remove(&path);
            StatusCode::NO_CONTENT.into_response()
        }
        ("data", Method::GET) => secrets.read(&path, asked("version").and_then(|v| v.parse().ok())),
        ("data", Method::POST | Method::PUT) => secrets.write(&path, &body),
        ("data", Method::DELETE) => secrets.change(&path, b"", deleted),
        ("delete", Method::POST | Method::PUT) => secrets.change(&path, &body, deleted),
        ("undelete", Method::POST | Method::PUT) => secrets.change(&path, &body, undeleted),
        ("destroy", Method::POST | Method::PUT) => secrets.change(&path, &body, |_| Version::Destroyed),
        _ => errors(StatusCode::METHOD_NOT_ALLOWED, &["unsupported operation"]),
    }
}
