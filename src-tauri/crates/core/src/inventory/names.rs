//! What a resource name means: the one table for nodes and pods alike (two tables drift apart, kubestellar#9090).
//!
//! A name is a device, a dimension of a device, or no accelerator; a device that no entry of `data/resources.toml` knows
//! is `unclassified`: shown, never dropped, never added to the cards. Three families of names have a grammar instead of
//! entries: MIG profiles, AMD partitions, and the passthrough and vGPU names of KubeVirt.

use std::collections::HashMap;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::glob::Pattern;

/// How the devices of a row are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A card under its plain name. Labels tell when the units are slices or shares.
    Gpu,
    /// A share under a renamed resource (time-slicing or MPS with `renameByDefault`).
    GpuShared,
    /// A MIG instance.
    Mig,
    /// A partition of an AMD or Huawei device.
    Partition,
    /// A whole card for a virtual machine.
    Passthrough,
    /// A mediated virtual GPU.
    Vgpu,
    /// A share that a scheduler extension invents (HAMi, Volcano).
    GpuVirtual,
    /// A neural processor.
    Npu,
    /// A TPU chip.
    Tpu,
    /// A Gaudi processor.
    Hpu,
    /// A Neuron chip.
    Neuron,
    /// In an accelerator vendor's domain or called gpu, and known to no table.
    Unclassified,
}

/// What a resource name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class<'n> {
    /// Its units are devices.
    Device(DeviceName<'n>),
    /// It measures devices that another name counts.
    Dimension,
    /// Not an accelerator.
    Other,
}

/// What the name of a device says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceName<'n> {
    /// Who makes it; `None` for an unclassified name outside the vendors' domains.
    pub vendor: Option<&'static str>,
    /// How it is made.
    pub kind: Kind,
    /// MIG or partition profile in the name.
    pub profile: Option<&'n str>,
    /// Whether units cannot be turned into cards by the name alone.
    pub cards_unknown: bool,
    /// The canonical name of the same devices.
    pub alias_of: Option<&'static str>,
}

impl DeviceName<'_> {
    fn of(vendor: Option<&'static str>, kind: Kind) -> Self {
        Self { vendor, kind, profile: None, cards_unknown: false, alias_of: None }
    }
}

/// What a resource name stands for.
pub fn classify(name: &str) -> Class<'_> {
    let tables = &*TABLES;
    if let Some(class) = tables.exact(name) {
        return class;
    }
    if let Some(device) = by_grammar(name) {
        return Class::Device(device);
    }
    tables.by_pattern(&name.to_ascii_lowercase())
}

/// What a resource name stands for, when only devices matter.
pub fn device(name: &str) -> Option<DeviceName<'_>> {
    match classify(name) {
        Class::Device(device) => Some(device),
        Class::Dimension | Class::Other => None,
    }
}

/// What a DRA driver's devices are; `None` for drivers of other hardware.
pub fn driver(name: &str) -> Option<DeviceName<'static>> {
    let tables = &*TABLES;
    if let Some(driver) = tables.driver.iter().find(|driver| driver.name == name) {
        return Some(DeviceName::of(Some(&driver.vendor), driver.kind));
    }
    let other = tables.dra.not_accelerators.iter().any(|pattern| pattern.matches(name));
    (!other).then_some(DeviceName::of(None, Kind::Unclassified))
}

/// Whether a device taint only says that another partition mode is in use, which is nothing against the card.
pub fn is_mode_taint(key: &str) -> bool {
    TABLES.dra.mode_taints.iter().any(|known| known == key)
}

/// The vendor whose name this is, in any case: `NVIDIA` is `nvidia`.
pub fn vendor_named(text: &str) -> Option<&'static str> {
    let tables = &*TABLES;
    tables.device.iter().map(|device| device.vendor.as_str()).find(|vendor| vendor.eq_ignore_ascii_case(text))
}

/// Names that carry their meaning in their form.
fn by_grammar(name: &str) -> Option<DeviceName<'_>> {
    let (domain, rest) = name.split_once('/')?;
    match domain {
        "nvidia.com" => {
            if let Some(profile) = rest.strip_prefix("mig-") {
                let (profile, kind) = match profile.strip_suffix(".shared") {
                    Some(profile) => (profile, Kind::GpuShared),
                    None => (profile, Kind::Mig),
                };
                return Some(DeviceName { profile: Some(profile), ..DeviceName::of(Some("nvidia"), kind) });
            }
            if is_vgpu(rest) {
                return Some(DeviceName::of(Some("nvidia"), Kind::Vgpu));
            }
            is_pci_name(rest).then(|| DeviceName::of(Some("nvidia"), Kind::Passthrough))
        }
        "amd.com" => {
            let (compute, memory) = rest.split_once('_')?;
            let is_partition =
                matches!(compute, "spx" | "dpx" | "tpx" | "qpx" | "cpx") && memory.starts_with("nps");
            is_partition
                .then(|| DeviceName { profile: Some(rest), ..DeviceName::of(Some("amd"), Kind::Partition) })
        }
        _ => None,
    }
}

/// NVIDIA vGPU types end in the frame buffer in GB and the licence series: `NVIDIA_A10-12Q`, `GRID_P40-1Q`.
fn is_vgpu(name: &str) -> bool {
    let Some((_, profile)) = name.rsplit_once('-') else {
        return false;
    };
    let digits = profile.trim_end_matches(['A', 'B', 'C', 'Q', 'a', 'b', 'c', 'q']);
    profile.len() == digits.len() + 1 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Names out of the PCI database begin with the chip: `GA102GL_A10`, `TU104GL_Tesla_T4`. The rest is free text, in any
/// case, because KubeVirt's administrators write it.
fn is_pci_name(name: &str) -> bool {
    const FAMILIES: [&str; 11] = ["GF", "GK", "GM", "GP", "GV", "GA", "GH", "GB", "GR", "TU", "AD"];
    let Some((chip, _)) = name.split_once('_') else {
        return false;
    };
    let Some((family, rest)) = chip.split_at_checked(2) else {
        return false;
    };
    let letters = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    FAMILIES.iter().any(|known| known.eq_ignore_ascii_case(family))
        && rest.len() - letters.len() == 3
        && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::parse().unwrap_or_default());

#[derive(Default, Deserialize)]
struct Tables {
    other: Vec<Pattern>,
    dimension: Vec<Pattern>,
    domains: HashMap<String, String>,
    device: Vec<DeviceEntry>,
    dra: DraEntries,
    driver: Vec<DriverEntry>,
    /// Devices that are named exactly: what a name is most of the time.
    #[serde(skip)]
    by_name: FxHashMap<String, usize>,
}

#[derive(Deserialize)]
struct DeviceEntry {
    name: Pattern,
    vendor: String,
    kind: Kind,
    cards: Option<String>,
    alias_of: Option<String>,
}

#[derive(Default, Deserialize)]
struct DraEntries {
    not_accelerators: Vec<Pattern>,
    mode_taints: Vec<String>,
}

#[derive(Deserialize)]
struct DriverEntry {
    name: String,
    vendor: String,
    kind: Kind,
}

impl Tables {
    fn parse() -> Result<Self, toml::de::Error> {
        let mut tables: Self = toml::from_str(include_str!("data/resources.toml"))?;
        let exact = tables
            .device
            .iter()
            .enumerate()
            .filter_map(|(at, device)| Some((device.name.exact()?.to_owned(), at)));
        tables.by_name = exact.collect();
        Ok(tables)
    }

    fn exact(&'static self, name: &str) -> Option<Class<'static>> {
        Some(Class::Device(self.device[*self.by_name.get(name)?].meaning()))
    }

    fn by_pattern(&'static self, name: &str) -> Class<'static> {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        if any(&self.other) {
            return Class::Other;
        }
        if any(&self.dimension) {
            return Class::Dimension;
        }
        if let Some(device) = self.device.iter().find(|device| device.name.matches(name)) {
            return Class::Device(device.meaning());
        }
        let (domain, rest) = name.split_once('/').unwrap_or(("", name));
        let vendor = self.domains.get(domain).map(String::as_str);
        let is_class = domain == "deviceclass.resource.kubernetes.io" && driver(rest).is_some();
        if vendor.is_some() || rest.contains("gpu") || rest == "npu" || is_class {
            return Class::Device(DeviceName::of(vendor, Kind::Unclassified));
        }
        Class::Other
    }
}

impl DeviceEntry {
    fn meaning(&'static self) -> DeviceName<'static> {
        DeviceName {
            vendor: Some(&self.vendor),
            kind: self.kind,
            profile: None,
            cards_unknown: self.cards.is_some(),
            alias_of: self.alias_of.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Option<(Option<&'static str>, Kind)> {
        device(name).map(|device| (device.vendor, device.kind))
    }

    #[test]
    fn the_table_is_readable_and_its_patterns_are_lower_case() {
        assert_eq!(Tables::parse().err().map(|error| error.to_string()), None);
        let text = include_str!("data/resources.toml");
        for quoted in text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| line.split('"').skip(1).step_by(2))
        {
            let is_pattern = quoted.contains('*') || text.contains(&format!("  \"{quoted}\""));
            assert!(
                !is_pattern || quoted == quoted.to_ascii_lowercase(),
                "{quoted} meets names in lower case"
            );
        }
    }

    #[test]
    fn names_of_every_family_are_known() {
        for (name, vendor, expected) in [
            ("nvidia.com/gpu", "nvidia", Kind::Gpu),
            ("nvidia.com/gpu.shared", "nvidia", Kind::GpuShared),
            ("nvidia.com/mig-1g.10gb.me", "nvidia", Kind::Mig),
            ("nvidia.com/mig-1g.5gb.shared", "nvidia", Kind::GpuShared),
            ("nvidia.com/GA102GL_A10", "nvidia", Kind::Passthrough),
            ("nvidia.com/TU104GL_Tesla_T4", "nvidia", Kind::Passthrough),
            ("nvidia.com/GH100_H100_SXM5_80GB", "nvidia", Kind::Passthrough),
            ("nvidia.com/NVIDIA_A10-12Q", "nvidia", Kind::Vgpu),
            ("nvidia.com/GRID_P40-1Q", "nvidia", Kind::Vgpu),
            ("nvidia.com/pgpu", "nvidia", Kind::Passthrough),
            ("amd.com/gpu", "amd", Kind::Gpu),
            ("amd.com/cpx_nps4", "amd", Kind::Partition),
            ("gpu.intel.com/xe", "intel", Kind::Gpu),
            ("npu.intel.com/accel", "intel", Kind::Npu),
            ("habana.ai/gaudi", "habana", Kind::Hpu),
            ("google.com/tpu", "google", Kind::Tpu),
            ("cloud-tpus.google.com/v3", "google", Kind::Tpu),
            ("aws.amazon.com/neuron", "aws", Kind::Neuron),
            ("huawei.com/Ascend910B4-1", "huawei", Kind::Npu),
            ("huawei.com/Ascend310P-2c", "huawei", Kind::Partition),
            ("cambricon.com/mlu370", "cambricon", Kind::Npu),
            ("furiosa.ai/rngd", "furiosa", Kind::Npu),
            ("rebellions.ai/ATOM", "rebellions", Kind::Npu),
            ("iluvatar.ai/MR-V100-vgpu", "iluvatar", Kind::GpuVirtual),
            ("k8s.amazonaws.com/vgpu", "nvidia", Kind::GpuVirtual),
        ] {
            assert_eq!(kind(name), Some((Some(vendor), expected)), "{name}");
        }
    }

    #[test]
    fn dimensions_are_never_devices() {
        for name in [
            "nvidia.com/gpumem",
            "nvidia.com/gpumem-percentage",
            "nvidia.com/gpucores",
            "nvidia.com/priority",
            "volcano.sh/vgpu-memory",
            "aliyun.com/gpu-mem",
            "gpu.intel.com/millicores",
            "huawei.com/Ascend910B-memory",
            "cambricon.com/mlu.smlu.vmemory",
            "iluvatar.ai/MR-V100.vMem",
            "aws.amazon.com/neuroncore",
        ] {
            assert_eq!(classify(name), Class::Dimension, "{name}");
        }
    }

    #[test]
    fn unknown_names_of_the_field_are_unclassified_and_others_are_nothing() {
        assert_eq!(kind("nvidia.com/gpu_geforce_1660"), Some((Some("nvidia"), Kind::Unclassified)));
        assert_eq!(kind("foo.com/gpu"), Some((None, Kind::Unclassified)));
        assert_eq!(kind("foo.com/npu"), Some((None, Kind::Unclassified)));
        assert_eq!(
            kind("deviceclass.resource.kubernetes.io/gpu.nvidia.com"),
            Some((None, Kind::Unclassified))
        );
        for name in [
            "nvidia.com/hostdev",
            "nvidia.com/rdma_shared_device_a",
            "nvidia.com/mlnxnics",
            "rdma/hca_shared_devices_a",
            "vpc.amazonaws.com/efa",
            "devices.kubevirt.io/kvm",
            "intel.com/qat",
        ] {
            assert_eq!(classify(name), Class::Other, "{name}");
        }
    }

    #[test]
    fn unknown_dra_drivers_are_unclassified_and_drivers_of_other_hardware_are_nothing() {
        assert_eq!(driver("gpu.amd.com").and_then(|driver| driver.vendor), Some("amd"));
        assert_eq!(driver("tpu.example.com").map(|driver| driver.kind), Some(Kind::Unclassified));
        for name in ["compute-domain.nvidia.com", "dra.net", "dra.cpu", "sriovnetwork.openshift.io"] {
            assert_eq!(driver(name), None, "{name}");
        }
    }
}
