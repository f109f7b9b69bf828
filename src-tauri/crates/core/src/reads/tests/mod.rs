//! Reads against scripted API servers in memory.

mod inventory;
mod lists;
mod scope;

use crate::connect::scripted::{Step, json};

/// A list's body.
fn list(kind: &str, items: &[String], next: Option<&str>) -> String {
    let next = next.map(|token| format!(r#","continue":"{token}""#)).unwrap_or_default();
    format!(
        r#"{{"kind":"{kind}","apiVersion":"v1","metadata":{{"resourceVersion":"77"{next}}},"items":[{}]}}"#,
        items.join(",")
    )
}

fn node(name: &str) -> String {
    format!(r#"{{"metadata":{{"name":"{name}"}},"status":{{"allocatable":{{"nvidia.com/gpu":"8"}}}}}}"#)
}

fn pod(namespace: &str, name: &str) -> String {
    format!(
        r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}"}},"spec":{{"nodeName":"n0"}},"status":{{"phase":"Running"}}}}"#
    )
}

fn failure(code: u16, message: &str) -> Vec<Step> {
    json(code, &format!(r#"{{"kind":"Status","code":{code},"message":"{message}"}}"#))
}
