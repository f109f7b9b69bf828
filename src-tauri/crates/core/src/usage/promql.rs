//! Queries to Prometheus and its answers (HTTP API v1, instant queries).
//!
//! Invariant: the queries are made here from the table of metrics; nothing of a caller's goes into one.
//!
//! Deliberately absent: range queries.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::exposition::Sample;
use super::metrics::METRICS;

/// Minutes that the peak of activity looks back.
pub const PEAK_MINUTES: u32 = 15;

/// The labels that tell a card, its node and its pod. Grouping by them leaves everything else out of the answer.
const LABELS: &str = "node,Hostname,hostname,UUID,uuid,gpu_uuid,serial_number,gpu,gpu_id,modelName,card_model,card_series,\
                      GPU_I_PROFILE,GPU_I_ID,gpu_partition_id,exported_namespace,exported_pod,exported_container,\
                      namespace,pod,container";

/// Asks which of the metrics there are.
pub fn which() -> String {
    let names: Vec<String> =
        METRICS.iter().flat_map(|(name, _)| [(*name).to_owned(), name.to_ascii_uppercase()]).collect();
    format!("count by (__name__) ({{__name__=~\"{}\"}})", names.join("|"))
}

/// Asks for the present value of a metric, card by card.
pub fn now(metric: &str) -> String {
    format!("max by ({LABELS}) ({metric})")
}

/// Asks for the peak of a metric over the last [`PEAK_MINUTES`], card by card.
pub fn peak(metric: &str) -> String {
    format!("max by ({LABELS}) (max_over_time({metric}[{PEAK_MINUTES}m]))")
}

/// An answer.
#[derive(Debug, Deserialize)]
pub struct Answer {
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    #[serde(default)]
    result: Vec<Series>,
}

#[derive(Debug, Deserialize)]
struct Series {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    value: (serde_json::Value, String),
}

impl Answer {
    /// The names in the answer to [`which`], as far as the table knows them.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .data
            .result
            .iter()
            .filter_map(|series| series.metric.get("__name__"))
            .filter(|name| super::metrics::quantity(name).is_some())
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The answer as samples of `metric`.
    pub fn samples<'a>(&'a self, metric: &'a str) -> impl Iterator<Item = Sample<'a>> {
        self.data.result.iter().filter_map(move |series| {
            let labels = series
                .metric
                .iter()
                .map(|(key, value)| (key.as_str(), Cow::Borrowed(value.as_str())))
                .collect();
            Some(Sample { metric, labels, value: series.value.1.parse().ok()? })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_samples_and_a_bad_value_costs_its_series() {
        let answer: Answer = serde_json::from_str(
            r#"{"status":"success","data":{"resultType":"vector","result":[
                {"metric":{"UUID":"GPU-a","node":"n1"},"value":[1764800000.1,"97"]},
                {"metric":{"UUID":"GPU-b"},"value":[1764800000.1,"x"]}]}}"#,
        )
        .expect("an answer");
        let samples: Vec<_> = answer.samples("DCGM_FI_DEV_GPU_UTIL").collect();
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].label("node"), Some("n1"));
    }

    #[test]
    fn only_metrics_of_the_table_are_asked_for_even_if_the_server_names_others() {
        let answer: Answer = serde_json::from_str(
            r#"{"data":{"result":[{"metric":{"__name__":"gpu_health"},"value":[1,"8"]},
                {"metric":{"__name__":"up) or vector(1"},"value":[1,"8"]}]}}"#,
        )
        .expect("an answer");
        assert_eq!(answer.names(), ["gpu_health"]);
    }

    #[test]
    fn a_query_groups_by_the_labels_of_a_card() {
        assert!(now("gpu_health").starts_with("max by (node,Hostname,"));
        assert!(peak("gpu_gfx_activity").contains("max_over_time(gpu_gfx_activity[15m])"));
        assert!(which().contains("GPU_GFX_ACTIVITY|"));
    }
}
