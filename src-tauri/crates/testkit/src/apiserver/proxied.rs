//! Pages that services and pods serve through the API server's proxy.
//!
//! Deliberately absent: a query language. Of a query to Prometheus the metric that it names is looked for, and every
//! series of that metric is the answer.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::answer::{self, Answer};

/// One series with its present value.
#[derive(Debug, Clone)]
pub struct Series {
    /// Name of the metric.
    pub metric: &'static str,
    /// Labels.
    pub labels: Vec<(String, String)>,
    /// Value.
    pub value: f64,
}

/// A page behind the proxy.
#[derive(Debug, Clone)]
pub enum Page {
    /// The text of an exporter.
    Text(String),
    /// A Prometheus with these series.
    Prometheus(Vec<Series>),
}

/// Answers a proxied request.
pub fn answer(page: Option<&Page>, query: &str) -> Answer {
    match page {
        None => {
            let text = "error trying to reach service: dial tcp 10.20.30.40:9400: i/o timeout";
            answer::status(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", text)
        }
        Some(Page::Text(text)) => {
            answer::raw(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Bytes::from(text.clone()))
        }
        Some(Page::Prometheus(series)) => {
            let asked = url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "query");
            let asked = asked.map(|(_, value)| value.into_owned()).unwrap_or_default();
            answer::json(StatusCode::OK, &prometheus(series, &asked))
        }
    }
}

fn prometheus(series: &[Series], asked: &str) -> Value {
    let result: Vec<Value> = if asked.starts_with("count by (__name__)") {
        let mut names: Vec<&str> = series.iter().map(|series| series.metric).collect();
        names.sort_unstable();
        names.dedup();
        let count = |name: &str| series.iter().filter(|series| series.metric == name).count();
        names.iter().map(|name| sample(&[("__name__", name)], count(name).to_string())).collect()
    } else {
        let named = |metric: &str| {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            asked.split(|c| !word(c)).any(|part| part == metric)
        };
        series
            .iter()
            .filter(|series| named(series.metric))
            .map(|series| {
                let labels: Vec<(&str, &str)> =
                    series.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
                sample(&labels, series.value.to_string())
            })
            .collect()
    };
    json!({"status": "success", "data": {"resultType": "vector", "result": result}})
}

fn sample(labels: &[(&str, &str)], value: String) -> Value {
    let metric: Map<String, Value> =
        labels.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
    json!({"metric": metric, "value": [1_764_800_000.0, value]})
}
