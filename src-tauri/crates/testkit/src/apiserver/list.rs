//! Lists: selectors, pages, continue tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::world::{Kind, text};

/// What a list request asks.
#[derive(Default)]
pub struct Asked {
    pub limit: Option<usize>,
    pub token: Option<String>,
    pub fields: Vec<Condition>,
    pub labels: Vec<Condition>,
}

/// One condition of a selector.
pub struct Condition {
    key: String,
    wanted: Option<String>,
    negated: bool,
}

impl Asked {
    /// Reads a query.
    pub fn read(query: &str) -> Self {
        let mut asked = Self::default();
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "limit" => asked.limit = value.parse().ok().filter(|limit| *limit > 0),
                "continue" if !value.is_empty() => asked.token = Some(value.into_owned()),
                "fieldSelector" => asked.fields = conditions(&value),
                "labelSelector" => asked.labels = conditions(&value),
                _ => {}
            }
        }
        asked
    }
}

fn conditions(selector: &str) -> Vec<Condition> {
    selector
        .split(',')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let condition = |key: &str, wanted: Option<&str>, negated| Condition {
                key: key.trim().to_owned(),
                wanted: wanted.map(|value| value.trim().to_owned()),
                negated,
            };
            if let Some((key, value)) = part.split_once("!=") {
                condition(key, Some(value), true)
            } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
                condition(key, Some(value), false)
            } else if let Some(key) = part.strip_prefix('!') {
                condition(key, None, true)
            } else {
                condition(part, None, false)
            }
        })
        .collect()
}

impl Condition {
    fn holds(&self, value: Option<&str>) -> bool {
        let equal = match &self.wanted {
            Some(wanted) => value.unwrap_or_default() == wanted,
            None => value.is_some(),
        };
        equal != self.negated
    }
}

/// Whether an object is asked for.
pub fn matches(object: &Value, namespace: Option<&str>, asked: &Asked) -> bool {
    namespace.is_none_or(|namespace| text(object, "namespace") == namespace)
        && asked.fields.iter().all(|condition| {
            let pointer = format!("/{}", condition.key.replace('.', "/"));
            condition.holds(object.pointer(&pointer).and_then(Value::as_str))
        })
        && asked.labels.iter().all(|condition| {
            condition.holds(object["metadata"]["labels"].get(&condition.key).and_then(Value::as_str))
        })
}

/// The token is from an older state of the cluster.
pub struct Expired;

/// One page as the text of a list object.
pub fn page<'a>(
    kind: Kind,
    objects: impl Iterator<Item = &'a Value>,
    asked: &Asked,
    revision: u64,
) -> Result<String, Expired> {
    let objects: Vec<&Value> = objects.collect();
    let start = match &asked.token {
        Some(token) => read_token(token, revision).ok_or(Expired)?.min(objects.len()),
        None => 0,
    };
    let end = asked.limit.map_or(objects.len(), |limit| (start + limit).min(objects.len()));
    let items = objects[start..end].iter().map(|object| object.to_string());
    Ok(envelope(kind, revision, end, objects.len() - end, items))
}

/// A list object around items that are JSON text already. `next` is the place of the first item that is not in it.
pub fn envelope(
    kind: Kind,
    revision: u64,
    next: usize,
    remaining: usize,
    items: impl Iterator<Item = String>,
) -> String {
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if remaining > 0 {
        metadata["continue"] = URL_SAFE_NO_PAD.encode(format!("{revision}:{next}")).into();
        metadata["remainingItemCount"] = remaining.into();
    }
    let api_version = if kind.group.is_empty() {
        kind.version.to_owned()
    } else {
        format!("{}/{}", kind.group, kind.version)
    };
    let mut out = format!(
        "{{\"kind\":\"{}List\",\"apiVersion\":\"{api_version}\",\"metadata\":{metadata},\"items\":[",
        kind.kind
    );
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&item);
    }
    out.push_str("]}\n");
    out
}

/// Where a page starts: the place in a token of this revision.
pub fn read_token(token: &str, revision: u64) -> Option<usize> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let (of, start) = text.split_once(':')?;
    (of.parse() == Ok(revision)).then(|| start.parse().ok())?
}
