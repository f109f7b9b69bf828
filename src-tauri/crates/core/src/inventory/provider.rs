//! Where a node runs: provider, region, zone, instance type, and whether it is a real node at all.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::glob::Pattern;
use super::input::{Labels, Node};

const REGION: [&str; 2] = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE: [&str; 2] = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
const INSTANCE_TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

/// The provider of a node: by the scheme of its providerID, else by labels. A distribution's scheme (`k3s://`) gives way
/// to labels and then to the instance type. Unknown schemes are echoed; nothing is guessed from a region or a zone.
pub fn provider(node: &Node) -> Option<&str> {
    let table = &*TABLE;
    let id = node.provider_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let by_id = id.and_then(|id| table.by_id(id));
    let is_weak = by_id.is_some_and(|scheme| table.weak.iter().any(|weak| weak == scheme));
    if by_id.is_some() && !is_weak {
        return by_id;
    }
    let by_type = || table.by_instance_type(instance_type(&node.labels)?).filter(|_| is_weak);
    table.by_label(&node.labels).or_else(by_type).or(by_id)
}

/// The region of a node.
pub fn region<'n>(node: &'n Node, provider: Option<&str>) -> Option<&'n str> {
    // DigitalOcean writes a bare `region` label; elsewhere such a label is anybody's.
    first(&node.labels, &REGION)
        .or_else(|| node.labels.get("region").filter(|_| provider == Some("digitalocean")))
}

/// The zone of a node.
pub fn zone(labels: &Labels) -> Option<&str> {
    first(labels, &ZONE)
}

/// The instance type of a node.
pub fn instance_type(labels: &Labels) -> Option<&str> {
    first(labels, &INSTANCE_TYPE)
}

/// Whether the node stands for capacity of another cluster (Liqo, virtual kubelet): its cards are counted there.
pub fn is_virtual(node: &Node) -> bool {
    let known = &TABLE.r#virtual;
    let scheme = node.provider_id.as_deref().and_then(|id| id.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| known.schemes.iter().any(|s| s == scheme))
        || known.labels.iter().any(|(label, values)| {
            node.labels.get(label).is_some_and(|value| values.iter().any(|v| v == value))
        })
        || node.taints.iter().any(|taint| known.taints.iter().any(|key| *key == *taint.key))
}

fn first<'l>(labels: &'l Labels, keys: &[&str]) -> Option<&'l str> {
    keys.iter().find_map(|key| labels.get(key))
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("data/providers.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
struct Table {
    weak: Vec<String>,
    schemes: HashMap<String, String>,
    bare: HashMap<String, String>,
    label: Vec<LabelEntry>,
    instance_type: Vec<TypeEntry>,
    r#virtual: VirtualEntry,
}

#[derive(Deserialize)]
struct LabelEntry {
    prefix: String,
    provider: String,
}

#[derive(Deserialize)]
struct TypeEntry {
    pattern: Pattern,
    provider: String,
}

#[derive(Default, Deserialize)]
struct VirtualEntry {
    schemes: Vec<String>,
    labels: HashMap<String, Vec<String>>,
    taints: Vec<String>,
}

impl Table {
    fn by_id<'n>(&'static self, id: &'n str) -> Option<&'n str> {
        if let Some((scheme, _)) = id.split_once("://") {
            return Some(self.schemes.get(scheme).map_or(scheme, String::as_str));
        }
        if let Some((_, provider)) = self.bare.iter().find(|(prefix, _)| id.starts_with(prefix.as_str())) {
            return Some(provider);
        }
        // Alibaba writes `<region>.<instance id>`: cn-hangzhou.i-bp1...
        let (region, instance) = id.split_once('.')?;
        (region.contains('-') && instance.starts_with("i-")).then_some("alibaba")
    }

    fn by_label(&'static self, labels: &Labels) -> Option<&'static str> {
        let entry = self.label.iter().find(|entry| labels.with_prefix(&entry.prefix).next().is_some())?;
        Some(&entry.provider)
    }

    fn by_instance_type(&'static self, name: &str) -> Option<&'static str> {
        let entry = self.instance_type.iter().find(|entry| entry.pattern.matches(name))?;
        Some(&entry.provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, labels: &[(&str, &str)]) -> Node {
        Node { provider_id: Some(id.into()), labels: labels.iter().copied().collect(), ..Node::default() }
    }

    #[test]
    fn the_table_is_readable() {
        let table: Result<Table, _> = toml::from_str(include_str!("data/providers.toml"));
        assert_eq!(table.err().map(|error| error.to_string()), None);
    }

    #[test]
    fn the_scheme_names_the_provider_and_unknown_schemes_are_echoed() {
        for (id, expected) in [
            ("aws:///us-east-1a/i-0", Some("aws")),
            ("gce://project/zone/name", Some("gcp")),
            ("azure:///subscriptions/0", Some("azure")),
            ("digitalocean://1", Some("digitalocean")),
            ("ocid1.instance.oc1..x", Some("oci")),
            ("cn-hangzhou.i-bp1", Some("alibaba")),
            ("somecloud://x", Some("somecloud")),
            ("k3s://node", Some("k3s")),
            ("", None),
            ("nonsense", None),
        ] {
            assert_eq!(provider(&node(id, &[])), expected, "{id}");
        }
    }

    #[test]
    fn a_distribution_gives_way_to_the_cloud_it_runs_on() {
        assert_eq!(provider(&node("k3s://n", &[("nebius.com/gpu", "true")])), Some("nebius"));
        assert_eq!(
            provider(&node("k3s://n", &[("node.kubernetes.io/instance-type", "p5.48xlarge")])),
            Some("aws")
        );
        assert_eq!(provider(&node("k3s://n", &[("node.kubernetes.io/instance-type", "k3s")])), Some("k3s"));
        assert_eq!(
            provider(&node("", &[("node.kubernetes.io/instance-type", "p5.48xlarge")])),
            None,
            "not guessed"
        );
    }

    #[test]
    fn coreweave_is_coreweave_even_with_labels_of_another_cloud() {
        let labels = [("cloud.google.com/gke-accelerator", ""), ("gpu.coreweave.cloud/vendor", "")];
        assert_eq!(provider(&node("", &labels)), Some("coreweave"));
    }

    #[test]
    fn current_labels_win_over_those_of_old_clusters() {
        let node = node(
            "",
            &[
                ("topology.kubernetes.io/zone", "new"),
                ("failure-domain.beta.kubernetes.io/zone", "old"),
                ("failure-domain.beta.kubernetes.io/region", "old"),
            ],
        );
        assert_eq!((zone(&node.labels), region(&node, None)), (Some("new"), Some("old")));
    }

    #[test]
    fn nodes_of_another_cluster_are_virtual() {
        assert!(is_virtual(&node("liqo://b", &[])));
        assert!(is_virtual(&node("", &[("type", "virtual-kubelet")])));
        assert!(!is_virtual(&node("aws:///x", &[("type", "gpu")])));
    }
}
