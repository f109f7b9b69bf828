//! Pages of a large cluster, made once and kept as bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use super::answer::{self, Answer};
use super::list::{self, Asked, Expired};
use super::serve::pack;
use super::world::{Kind, World};
use crate::scenario::scale::Scale;

/// What a page's bytes depend on.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    plural: &'static str,
    all: Range<usize>,
    start: usize,
    limit: Option<usize>,
    revision: u64,
    gzip: bool,
}

/// The nodes and pods of a large cluster.
pub(crate) struct Pages {
    scale: Scale,
    made: Mutex<HashMap<Key, Bytes>>,
}

impl Pages {
    pub(super) fn new(scale: Scale) -> Self {
        Self { scale, made: Mutex::default() }
    }

    /// The small rest of the cluster.
    pub(super) fn namespaces(&self) -> World {
        let mut world = World::default();
        world.add(
            "namespaces",
            (0..self.scale.namespaces).map(|at| {
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.scale.namespace(at)},
                    "status": {"phase": "Active"}})
            }),
        );
        world
    }

    /// A page of nodes or pods; `None` for other kinds, and for reads with a selector, which no benchmark asks for.
    pub(super) fn page(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        asked: &Asked,
        revision: u64,
        gzip: bool,
    ) -> Option<Result<Answer, Expired>> {
        if !asked.fields.is_empty() || !asked.labels.is_empty() {
            return None;
        }
        let all = match (kind.plural, namespace) {
            ("nodes", None) => 0..self.scale.nodes,
            ("pods", None) => 0..self.scale.pods,
            ("pods", Some(namespace)) => self.scale.pods_of(namespace),
            _ => return None,
        };
        let start = match &asked.token {
            Some(token) => match list::read_token(token, revision) {
                Some(start) => start,
                None => return Some(Err(Expired)),
            },
            None => 0,
        };
        let key = Key { plural: kind.plural, all, start, limit: asked.limit, revision, gzip };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let body = match made.get(&key) {
            Some(body) => body.clone(),
            None => {
                let body = self.make(kind, &key);
                made.insert(key, body.clone());
                body
            }
        };
        let mut answer = answer::raw(StatusCode::OK, "application/json", body);
        if gzip {
            answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Some(Ok(answer))
    }

    fn make(&self, kind: Kind, key: &Key) -> Bytes {
        let count = key.all.len();
        let start = key.start.min(count);
        let end = key.limit.map_or(count, |limit| (start + limit).min(count));
        let items = (key.all.start + start..key.all.start + end).map(|at| {
            let object = if kind.plural == "nodes" { self.scale.node(at) } else { self.scale.pod(at) };
            object.to_string()
        });
        let text = list::envelope(kind, key.revision, end, count - end, items);
        if key.gzip { pack(text.as_bytes()).unwrap_or_default().into() } else { text.into() }
    }
}
