//! A name for the registration, suggested from how tools name contexts.
//!
//! Invariant: what is suggested passes the name rule (a DNS label, RFC 1123). Deliberately absent: asking anybody.

use std::collections::{HashMap, HashSet};

use url::Url;

use super::Context;
use crate::registry::MAX_NAME_LEN;

/// Contexts that many tools call the same say nothing about the cluster.
const GENERIC: [&str; 8] =
    ["default", "kubernetes", "kubeconfig", "context", "local", "cluster", "admin", "main"];

/// Suggests a name for a context.
pub fn suggest(context: &str, cluster: &str, server: Option<&Url>) -> String {
    [telling_part(context), telling_part(cluster)]
        .into_iter()
        .map(slug)
        .find(|name| !name.is_empty() && !GENERIC.contains(&name.as_str()))
        .or_else(|| server.and_then(from_host))
        .unwrap_or_else(|| "cluster".to_owned())
}

/// The part of a tool's context name that people call the cluster.
fn telling_part(context: &str) -> &str {
    // arn:aws:eks:REGION:ACCOUNT:cluster/NAME
    if context.starts_with("arn:") {
        return context.rsplit('/').next().unwrap_or(context);
    }
    // gke_PROJECT_ZONE_NAME; connectgateway_PROJECT_LOCATION_NAME
    if context.starts_with("gke_") || context.starts_with("connectgateway_") {
        return context.splitn(4, '_').nth(3).unwrap_or(context);
    }
    // //gkemulticloud.googleapis.com/projects/P/locations/L/awsClusters/NAME
    if context.starts_with("//") {
        return context.rsplit('/').next().unwrap_or(context);
    }
    // OpenShift: NAMESPACE/HOST-WITH-DASHES:PORT/USER
    let parts: Vec<&str> = context.split('/').collect();
    if let [_, host, _] = parts[..]
        && let Some((host, port)) = host.rsplit_once(':')
        && port.bytes().all(|b| b.is_ascii_digit())
    {
        return host.strip_prefix("api-").unwrap_or(host);
    }
    // kubeadm and k0s: USER@NAME; eksctl: USER@NAME.REGION.eksctl.io
    let name = context.rsplit_once('@').map_or(context, |(_, name)| name);
    name.strip_suffix(".eksctl.io").unwrap_or(name)
}

fn from_host(server: &Url) -> Option<String> {
    let host = server.host()?;
    let name = match host {
        url::Host::Domain(name) => {
            let labels: Vec<&str> = name.split('.').collect();
            let telling = labels
                .iter()
                .position(|l| !matches!(*l, "api" | "k8s" | "kube" | "apiserver" | "kubernetes" | "www"));
            slug(labels[telling.unwrap_or(0)])
        }
        other => slug(&other.to_string()),
    };
    (!name.is_empty()).then_some(name)
}

/// Lower case letters, digits and single dashes, at most 63, beginning and ending alphanumeric.
fn slug(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(MAX_NAME_LEN);
    out.trim_end_matches('-').to_owned()
}

/// Tells contexts apart that print alike though their names differ in what cannot be seen.
pub fn tell_apart(contexts: &mut [Context]) {
    let mut keys: HashMap<String, String> = HashMap::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    for context in contexts {
        let printed = context.name.clone();
        while keys.get(&context.name).is_some_and(|key| *key != context.key) {
            let next = last.entry(printed.clone()).and_modify(|n| *n += 1).or_insert(2);
            context.name = format!("{printed} ({next})");
        }
        keys.insert(context.name.clone(), context.key.clone());
    }
}

/// Sets the suggestions of different clusters apart: kubeadm, GKE and others give many clusters the same name, and a
/// name that is registered already would have its credential replaced by another cluster's.
pub fn set_apart(contexts: &mut [Context]) {
    let mut endpoints: HashMap<String, HashSet<Option<String>>> = HashMap::new();
    for context in contexts.iter() {
        endpoints.entry(context.suggested_name.clone()).or_default().insert(context.endpoint.clone());
    }
    let shared = |name: &str| endpoints.get(name).is_some_and(|all| all.len() > 1);
    let mut taken: HashMap<String, Option<String>> = HashMap::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    for context in contexts.iter().filter(|context| !shared(&context.suggested_name)) {
        taken.insert(context.suggested_name.clone(), context.endpoint.clone());
    }
    for context in contexts.iter_mut().filter(|context| shared(&context.suggested_name)) {
        let whole = slug(&context.key);
        let base = if whole.is_empty() { context.suggested_name.clone() } else { whole };
        let mut name = base.clone();
        while taken.get(&name).is_some_and(|endpoint| *endpoint != context.endpoint) {
            let next = last.entry(base.clone()).and_modify(|n| *n += 1).or_insert(2);
            let suffix = format!("-{next}");
            let room = base.len().min(MAX_NAME_LEN - suffix.len());
            name = format!("{}{suffix}", base[..room].trim_end_matches('-'));
        }
        taken.insert(name.clone(), context.endpoint.clone());
        context.suggested_name = name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_is_what_people_call_the_cluster() {
        let server = Url::parse("https://api.north.example.com:6443").ok();
        for (context, cluster, wanted) in [
            ("arn:aws:eks:eu-west-1:123456789012:cluster/Prod_A", "", "prod-a"),
            ("gke_my-project_europe-west4-a_train_1", "", "train-1"),
            ("default/api-crc-testing:6443/developer", "", "crc-testing"),
            ("/api-crc-testing:6443/developer", "", "crc-testing"),
            ("kubernetes-admin@lab", "", "lab"),
            ("ops@gpu.eu-west-1.eksctl.io", "", "gpu-eu-west-1"),
            ("default", "default", "north"),
            ("default", "edge", "edge"),
            ("//gkemulticloud.googleapis.com/projects/p/locations/l/awsClusters/burst", "", "burst"),
            ("C:\\Users\\me", "", "c-users-me"),
            ("-._", "", "north"),
            ("ümläut", "", "ml-ut"),
        ] {
            assert_eq!(suggest(context, cluster, server.as_ref()), wanted, "{context}");
        }
        assert_eq!(suggest("", "", None), "cluster");
        assert_eq!(suggest(&"a-".repeat(60), "", None).len(), 63);
    }
}
