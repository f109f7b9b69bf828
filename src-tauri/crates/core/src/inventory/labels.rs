//! What a node's labels say about its accelerators: model, memory, and that there should be some at all.
//!
//! Labels are hints: they may be blank, of another cloud, or about one of several models. A value is checked before it is
//! believed, and the number of devices is never taken from a label of a cloud. The sources are in `data/labels.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::catalogue;
use super::input::{Labels, Node};
use super::name::Name;
use super::names;
use super::quantity::Quantity;

/// A fact together with the label that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled<T> {
    /// The fact.
    pub value: T,
    /// Key of the label.
    pub label: &'static str,
}

/// The model of a vendor's devices on a node, as it is written, without the suffixes of sharing and MIG.
pub fn model(vendor: &str, node: &Node, provider: Option<&str>) -> Option<Labelled<Name>> {
    let named =
        SOURCES.model.iter().filter(|source| source.vendor.as_deref() == Some(vendor)).find_map(|source| {
            Some(Labelled { value: without_cut(source.read(node, provider)?).into(), label: &source.label })
        });
    named.or_else(|| counted(vendor, node, PRODUCT_COUNTERS)).or_else(|| by_device_id(vendor, node))
}

/// The memory of one device in MiB. Partitions are labelled with their own memory, not with that of the card.
pub fn memory_mib(vendor: &str, node: &Node) -> Option<Labelled<i64>> {
    let plain =
        SOURCES.memory.iter().filter(|source| source.vendor.as_deref() == Some(vendor)).find_map(|source| {
            let value = in_mib(source.read(node, None)?, source.unit.as_deref())?;
            Some(Labelled { value, label: &source.label })
        });
    plain.or_else(|| {
        let labelled = counted(vendor, node, VRAM_COUNTERS)?;
        Some(Labelled { value: in_mib(&labelled.value, Some("GiB"))?, label: labelled.label })
    })
}

/// The vendors whose accelerators the labels promise, beyond those that the node advertises.
pub fn promised_vendors(node: &Node, advertised: &[&str]) -> Vec<&'static str> {
    let is_new = |vendor: &str| !advertised.contains(&vendor);
    let mut vendors: Vec<&'static str> = SOURCES
        .evidence
        .iter()
        .filter(|source| source.vendor.as_deref().is_none_or(is_new))
        .filter_map(|source| source.promised_vendor(node))
        .filter(|vendor| is_new(vendor))
        .collect();
    vendors.sort_unstable();
    vendors.dedup();
    vendors
}

/// A product label without what sharing (`-SHARED`) and MIG (`-MIG-1g.5gb`) append to it.
pub fn without_cut(product: &str) -> &str {
    let product = product.strip_suffix("-SHARED").unwrap_or(product);
    product.split_once("-MIG-").map_or(product, |(model, _)| model)
}

const PRODUCT_COUNTERS: [&str; 2] = ["amd.com/gpu.product-name.", "beta.amd.com/gpu.product-name."];
const VRAM_COUNTERS: [&str; 2] = ["amd.com/gpu.vram.", "beta.amd.com/gpu.vram."];

/// AMD's labeller writes a counter per value, `amd.com/gpu.vram.192G: "4"`; it tells the value only when there is one.
fn counted(vendor: &str, node: &Node, prefixes: [&'static str; 2]) -> Option<Labelled<Name>> {
    if vendor != "amd" {
        return None;
    }
    prefixes.into_iter().find_map(|prefix| {
        let mut values = node.labels.with_prefix(prefix).map(|(key, _)| &key[prefix.len()..]);
        let value = values.next()?;
        values.next().is_none().then(|| Labelled { value: value.into(), label: prefix })
    })
}

/// AMD's compute and memory partition of the node's cards, such as `cpx_nps4`.
pub fn amd_partition(labels: &Labels) -> Option<&str> {
    const KEYS: [&str; 3] = [
        "amd.com/gpu.compute-memory-partition",
        "amd.com/compute-memory-partition",
        "beta.amd.com/gpu.compute-memory-partition",
    ];
    KEYS.into_iter().find_map(|key| labels.get(key))
}

fn by_device_id(vendor: &str, node: &Node) -> Option<Labelled<Name>> {
    let labels = if vendor == "amd" { &SOURCES.device_id.amd } else { return None };
    labels.iter().find_map(|label| {
        let model = catalogue::model_of_device(vendor, node.labels.get(label)?)?;
        Some(Labelled { value: model.short.as_str().into(), label })
    })
}

/// Reads `81559`, `192G` or `80Gi`. The letter alone is loose writing for the binary unit in these labels. Zero and text
/// are unknown: a GB10 has unified memory and no number (KAI#706).
fn in_mib(text: &str, unit: Option<&str>) -> Option<i64> {
    let digits = text.trim_end_matches(['i', 'B', 'b']);
    let (number, suffix) = match digits.chars().next_back()? {
        'T' | 't' => (&digits[..digits.len() - 1], "Ti"),
        'G' | 'g' => (&digits[..digits.len() - 1], "Gi"),
        'M' | 'm' => (&digits[..digits.len() - 1], "Mi"),
        _ => (digits, if unit == Some("GiB") { "Gi" } else { "Mi" }),
    };
    let bytes = format!("{number}{suffix}").parse::<Quantity>().ok()?.floor();
    Some(bytes >> 20).filter(|mib| *mib > 0)
}

static SOURCES: LazyLock<Sources> =
    LazyLock::new(|| toml::from_str(include_str!("data/labels.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
struct Sources {
    model: Vec<Source>,
    memory: Vec<Source>,
    evidence: Vec<Source>,
    device_id: DeviceIds,
}

#[derive(Default, Deserialize)]
struct DeviceIds {
    amd: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    vendor: Option<String>,
    label: String,
    #[serde(default)]
    starts: Vec<String>,
    maker: Option<String>,
    cloud: Option<String>,
    unit: Option<String>,
    is: Option<String>,
    #[serde(default)]
    names_vendor: bool,
    #[serde(default)]
    any_suffix: bool,
}

impl Source {
    /// The label's value, where it passes the checks.
    fn read<'n>(&self, node: &'n Node, provider: Option<&str>) -> Option<&'n str> {
        let value = node.labels.get(&self.label)?;
        let begins =
            |prefix: &String| value.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
        let passes = (self.starts.is_empty() || self.starts.iter().any(begins))
            && self.maker.as_ref().is_none_or(|maker| self.is_made_by(node.labels.get(maker)))
            && self.cloud.as_ref().is_none_or(|cloud| provider == Some(cloud.as_str()));
        passes.then_some(value)
    }

    fn is_made_by(&self, maker: Option<&str>) -> bool {
        match (maker, &self.vendor) {
            (Some(maker), Some(vendor)) => maker.eq_ignore_ascii_case(vendor),
            _ => true,
        }
    }

    fn promised_vendor(&'static self, node: &Node) -> Option<&'static str> {
        if self.any_suffix {
            node.labels.with_prefix(&self.label).find(|(_, value)| !value.is_empty())?;
            return self.vendor.as_deref();
        }
        let value = self.read(node, None)?;
        if self.names_vendor {
            return names::vendor_named(value);
        }
        let says_so = match &self.is {
            Some(expected) => value.eq_ignore_ascii_case(expected),
            None => !["false", "none", "0"].iter().any(|no| value.eq_ignore_ascii_case(no)),
        };
        self.vendor.as_deref().filter(|_| says_so)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(labels: &[(&str, &str)]) -> Node {
        Node { labels: labels.iter().copied().collect(), ..Node::default() }
    }

    fn model_of(vendor: &str, labels: &[(&str, &str)]) -> Option<String> {
        model(vendor, &node(labels), None).map(|found| found.value.to_string())
    }

    #[test]
    fn the_sources_are_readable() {
        let sources: Result<Sources, _> = toml::from_str(include_str!("data/labels.toml"));
        assert_eq!(sources.err().map(|error| error.to_string()), None);
    }

    #[test]
    fn what_sharing_and_mig_append_is_not_the_model() {
        for (label, model) in [
            ("Tesla-T4-SHARED", "Tesla-T4"),
            ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "NVIDIA-A100-SXM4-40GB"),
            ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED", "NVIDIA-A100-SXM4-40GB"),
            ("NVIDIA-H100-MIG-INVALID", "NVIDIA-H100"),
        ] {
            assert_eq!(without_cut(label), model);
        }
    }

    #[test]
    fn a_label_of_another_cloud_falls_through_to_the_next() {
        let labels = [
            ("cloud.google.com/gke-accelerator", "H100_NVLINK_80GB"),
            ("gpu.nvidia.com/class", "H100_NVLINK_80GB"),
            ("gpu.nvidia.com/vram", "81"),
        ];
        let found = model("nvidia", &node(&labels), None).expect("CoreWeave's own label is good");
        assert_eq!((&*found.value, found.label), ("H100_NVLINK_80GB", "gpu.nvidia.com/class"));
        assert_eq!(
            memory_mib("nvidia", &node(&labels)).map(|found| found.value),
            Some(82_944),
            "GiB, not MiB"
        );
    }

    #[test]
    fn a_model_of_another_maker_is_not_taken() {
        let labels =
            [("doks.digitalocean.com/gpu-brand", "amd"), ("doks.digitalocean.com/gpu-model", "mi300x")];
        assert_eq!(model_of("nvidia", &labels), None);
        assert_eq!(model_of("amd", &labels).as_deref(), Some("mi300x"));
    }

    #[test]
    fn an_instance_type_is_a_model_on_nebius_only() {
        let node = node(&[("node.kubernetes.io/instance-type", "gpu-h100-sxm")]);
        assert_eq!(
            model("nvidia", &node, Some("nebius")).map(|m| m.value.to_string()).as_deref(),
            Some("gpu-h100-sxm")
        );
        assert_eq!(model("nvidia", &node, Some("aws")), None);
    }

    #[test]
    fn amd_is_read_from_product_counter_and_device_id() {
        assert_eq!(
            model_of("amd", &[("amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM")]).as_deref(),
            Some("AMD_Instinct_MI300X_OAM")
        );
        assert_eq!(
            model_of("amd", &[("beta.amd.com/gpu.product-name.MI210", "4")]).as_deref(),
            Some("MI210")
        );
        assert_eq!(model_of("amd", &[("amd.com/gpu.device-id", "74a1")]).as_deref(), Some("MI300X"));
        let two = [("amd.com/gpu.vram.192G", "4"), ("amd.com/gpu.vram.64G", "2")];
        assert_eq!(memory_mib("amd", &node(&two)), None, "two sizes on one node are not one size");
        assert_eq!(memory_mib("amd", &node(&two[..1])).map(|found| found.value), Some(196_608));
    }

    #[test]
    fn memory_that_is_no_positive_number_is_unknown() {
        for value in ["", "0", "[N/A]"] {
            assert_eq!(memory_mib("nvidia", &node(&[("nvidia.com/gpu.memory", value)])), None, "{value:?}");
        }
    }

    #[test]
    fn labels_promise_a_vendor() {
        for (key, value, vendor) in [
            ("nvidia.com/gpu.present", "true", "nvidia"),
            ("cloud.google.com/gke-accelerator", "nvidia-tesla-t4", "nvidia"),
            ("kubernetes.azure.com/accelerator", "nvidia", "nvidia"),
            ("doks.digitalocean.com/gpu-brand", "amd", "amd"),
            ("amd.com/gpu.cu-count", "304", "amd"),
            ("karpenter.azure.com/sku-gpu-count", "1", "nvidia"),
            ("cloud.google.com/gke-tpu-accelerator", "tpu-v5p-slice", "google"),
        ] {
            assert_eq!(promised_vendors(&node(&[(key, value)]), &[]), [vendor], "{key}={value}");
        }
        for (key, value) in [
            ("nvidia.com/gpu.present", "false"),
            ("nvidia.com/gpu.count", "0"),
            ("gpu.nvidia.com/class", ""),
            ("feature.node.kubernetes.io/pci-8086.present", "true"),
            ("accelerator", "abacus"),
        ] {
            assert!(promised_vendors(&node(&[(key, value)]), &[]).is_empty(), "{key}={value}");
        }
    }
}
