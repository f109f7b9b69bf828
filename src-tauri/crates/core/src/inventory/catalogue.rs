//! The model catalogue: short names, sold memory, and how MIG and AMD's compute modes cut a card.
//!
//! The facts are in `data/models.toml`. The MIG table is keyed by model and profile, because one profile name means
//! different cuts on different cards.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::glob::Pattern;

/// A model of the catalogue.
#[derive(Debug, Deserialize)]
pub struct Model {
    /// Name for people: `H100`.
    pub short: String,
    /// Vendor, as in `data/resources.toml`.
    pub vendor: String,
    /// Memory that the model is sold with, in GiB.
    pub memory_gib: Option<i64>,
    words: Vec<String>,
    #[serde(default)]
    device_ids: Vec<String>,
    cpx_parts: Option<i64>,
    mig: Option<String>,
}

/// How one model can be cut by MIG.
#[derive(Debug, Deserialize)]
pub struct MigTable {
    /// Compute slices of a card.
    pub compute: i64,
    /// Memory slices of a card.
    pub memory: i64,
    profiles: HashMap<String, MigProfile>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct MigProfile {
    max: i64,
    memory: i64,
}

/// How a profile cuts a card: units of the profile share GPU instances, and GPU instances share a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Units on one GPU instance: one, or the compute instances that it is cut into.
    pub per_instance: i64,
    /// GPU instances on one card.
    pub instances: i64,
    /// Compute slices of one GPU instance.
    pub compute: i64,
    /// Memory slices of one GPU instance.
    pub memory: i64,
}

/// The model that a raw name (`NVIDIA-H100-80GB-HBM3`) or a device name of DRA means.
pub fn model(vendor: &str, raw: &str) -> Option<&'static Model> {
    let raw = raw.to_ascii_uppercase();
    let words: Vec<&str> =
        raw.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    CATALOGUE
        .model
        .iter()
        .filter(|model| model.vendor == vendor)
        .find(|model| model.words.iter().all(|word| words.contains(&word.as_str())))
}

/// The model with a PCI device id, with or without `0x`.
pub fn model_of_device(vendor: &str, id: &str) -> Option<&'static Model> {
    let id = id.trim_start_matches("0x").to_ascii_lowercase();
    CATALOGUE.model.iter().find(|model| model.vendor == vendor && model.device_ids.contains(&id))
}

/// The model of an instance type, on the clouds that are known.
pub fn model_of_instance(vendor: &str, cloud: &str, instance_type: &str) -> Option<&'static Model> {
    let instances = &CATALOGUE.instances;
    if instances.by_words.iter().any(|known| known == cloud) {
        return model(vendor, instance_type);
    }
    let known = instances.by_cloud.get(cloud)?.iter().find(|known| known.pattern.matches(instance_type))?;
    CATALOGUE.model.iter().find(|model| model.vendor == vendor && model.short == known.short)
}

/// The MIG table of a model, by its raw name; `memory_mib` of the whole card decides where the name leaves it open.
pub fn mig_table(raw: &str, memory_mib: Option<i64>) -> Option<&'static MigTable> {
    let model = model("nvidia", raw)?;
    let table = match (&model.mig, CATALOGUE.mig_by_memory.get(&model.short), memory_mib) {
        (Some(table), _, _) => table,
        (None, Some(choice), Some(mib)) if mib <= choice.up_to_mib => &choice.small,
        (None, Some(choice), Some(_)) => &choice.large,
        _ => return None,
    };
    CATALOGUE.mig.get(table)
}

/// How many units of a profile fit on one card of an unknown model, where all models agree.
pub fn mig_units_of_any_model(profile: &str) -> Option<i64> {
    let mut all = CATALOGUE
        .mig
        .values()
        .filter_map(|table| table.cut(profile))
        .map(|cut| cut.per_instance * cut.instances);
    let first = all.next()?;
    all.all(|max| max == first).then_some(first)
}

impl MigTable {
    /// The cut of a profile, as resource names and labels spell it. `1c.3g.20gb` is a compute instance: one of the three
    /// compute slices of a `3g.20gb`.
    pub fn cut(&self, profile: &str) -> Option<Cut> {
        let profile = profile.replace('+', ".");
        let (part, whole) = match profile.split_once("c.") {
            Some((part, whole)) => (Some(part.parse::<i64>().ok().filter(|part| *part > 0)?), whole),
            None => (None, profile.as_str()),
        };
        let found = self.profiles.get(whole)?;
        let compute = compute_slices(whole)?;
        Some(Cut {
            per_instance: part.map_or(1, |part| compute / part),
            instances: found.max,
            compute,
            memory: found.memory,
        })
    }
}

/// Compute slices of a GPU instance: the number in front of the `g`.
fn compute_slices(profile: &str) -> Option<i64> {
    profile.split_once('g')?.0.parse().ok()
}

/// Into how many parts AMD's compute mode cuts a card: `cpx_nps4` on an MI300X into 8.
pub fn amd_parts(mode: &str, model: Option<&Model>) -> Option<i64> {
    match mode.split('_').next()?.to_ascii_lowercase().as_str() {
        "spx" => Some(1),
        "dpx" => Some(2),
        "tpx" => Some(3),
        "qpx" => Some(4),
        "cpx" => Some(model.and_then(|model| model.cpx_parts).unwrap_or(8)),
        _ => None,
    }
}

static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| toml::from_str(include_str!("data/models.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
struct Catalogue {
    model: Vec<Model>,
    instances: Instances,
    mig_by_memory: HashMap<String, MigChoice>,
    mig: HashMap<String, MigTable>,
}

#[derive(Default, Deserialize)]
struct Instances {
    by_words: Vec<String>,
    #[serde(flatten)]
    by_cloud: HashMap<String, Vec<Instance>>,
}

#[derive(Deserialize)]
struct Instance {
    pattern: Pattern,
    short: String,
}

#[derive(Deserialize)]
struct MigChoice {
    up_to_mib: i64,
    small: String,
    large: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(raw: &str) -> Option<&'static str> {
        model("nvidia", raw).map(|model| model.short.as_str())
    }

    #[test]
    fn the_catalogue_is_readable_and_every_table_it_names_exists() {
        let catalogue: Catalogue =
            toml::from_str(include_str!("data/models.toml")).expect("data/models.toml is valid");
        for model in &catalogue.model {
            if let Some(table) = &model.mig {
                assert!(catalogue.mig.contains_key(table), "{} names the table {table}", model.short);
            }
        }
        for instance in catalogue.instances.by_cloud.values().flatten() {
            assert!(
                catalogue.model.iter().any(|model| model.short == instance.short),
                "{} is a model",
                instance.short
            );
        }
        for choice in catalogue.mig_by_memory.values() {
            assert!(catalogue.mig.contains_key(&choice.small) && catalogue.mig.contains_key(&choice.large));
        }
    }

    #[test]
    fn no_profile_asks_for_more_slices_than_a_card_has() {
        let catalogue: Catalogue =
            toml::from_str(include_str!("data/models.toml")).expect("data/models.toml is valid");
        for (name, table) in &catalogue.mig {
            for (profile, cut) in &table.profiles {
                let compute = compute_slices(profile).expect("a profile begins with its compute slices");
                assert!(compute * cut.max <= table.compute, "{name} {profile} compute");
                assert!(cut.memory * cut.max <= table.memory, "{name} {profile} memory");
            }
        }
    }

    #[test]
    fn one_model_is_found_under_the_names_of_every_source() {
        for raw in [
            "NVIDIA-H100-80GB-HBM3",
            "nvidia-h100-mega-80gb",
            "nvidia-h100-80gb",
            "H100_NVLINK_80GB",
            "NVIDIA H100 80GB HBM3",
            "h100",
        ] {
            assert_eq!(short(raw), Some("H100"), "{raw}");
        }
        assert_eq!(short("NVIDIA-H100-NVL"), Some("H100 NVL"));
        assert_eq!(short("NVIDIA-A100-SXM4-40GB"), Some("A100 40GB"));
        assert_eq!(short("nvidia-tesla-a100"), Some("A100 40GB"));
        assert_eq!(short("NVIDIA-A100-SXM4-80GB"), Some("A100 80GB"));
        assert_eq!(short("NVIDIA-L40S"), Some("L40S"));
        assert_eq!(short("NVIDIA-GB200"), Some("GB200"));
        assert_eq!(short("something-else"), None);
        assert_eq!(model_of_device("amd", "0x74A1").map(|model| model.short.as_str()), Some("MI300X"));
    }

    #[test]
    fn an_instance_type_is_a_model_on_its_own_cloud_only() {
        let short = |vendor, cloud, instance| {
            model_of_instance(vendor, cloud, instance).map(|model| model.short.as_str())
        };
        assert_eq!(short("nvidia", "azure", "Standard_ND96isr_H100_v5"), Some("H100"));
        assert_eq!(short("amd", "azure", "Standard_ND96isr_MI300X_v5"), Some("MI300X"));
        assert_eq!(short("nvidia", "aws", "p5.48xlarge"), Some("H100"));
        assert_eq!(short("nvidia", "aws", "p5en.48xlarge"), Some("H200"));
        assert_eq!(short("aws", "aws", "trn1.32xlarge"), Some("Trainium"));
        assert_eq!(short("nvidia", "aws", "gpu-h100-sxm"), None);
        assert_eq!(short("nvidia", "somecloud", "p5.48xlarge"), None);
    }

    #[test]
    fn one_profile_is_cut_differently_on_different_models() {
        let max = |raw, profile| {
            mig_table(raw, None)
                .and_then(|table| table.cut(profile))
                .map(|cut| cut.instances * cut.per_instance)
        };
        assert_eq!(max("NVIDIA-A100-SXM4-40GB", "1g.10gb"), Some(4));
        assert_eq!(max("NVIDIA-A100-SXM4-80GB", "1g.10gb"), Some(7));
        assert_eq!(max("NVIDIA-H200", "1g.35gb"), Some(4));
        assert_eq!(max("NVIDIA-GB300", "1g.35gb"), Some(7));
        assert_eq!(max("NVIDIA-H100-80GB-HBM3", "1g.10gb+me"), Some(1));
        assert_eq!(
            max("NVIDIA-A100-SXM4-40GB", "1c.3g.20gb"),
            Some(6),
            "three compute instances in each of two"
        );
        assert_eq!(max("NVIDIA-A100-SXM4-40GB", "1g.24gb"), None);
    }

    #[test]
    fn memory_decides_where_the_name_leaves_the_table_open() {
        let max =
            |mib| mig_table("A100", mib).and_then(|table| table.cut("1g.10gb")).map(|cut| cut.instances);
        assert_eq!((max(Some(40_960)), max(Some(81_920)), max(None)), (Some(4), Some(7), None));
    }

    #[test]
    fn an_unknown_model_counts_only_where_all_models_agree() {
        assert_eq!(mig_units_of_any_model("1g.5gb"), Some(7));
        assert_eq!(mig_units_of_any_model("1g.10gb"), None, "seven on 80 GB, four on 40 GB");
    }

    #[test]
    fn amd_modes_cut_a_card_into_parts() {
        let parts = |mode, raw| amd_parts(mode, model("amd", raw));
        assert_eq!(parts("cpx_nps4", "AMD_Instinct_MI300X_OAM"), Some(8));
        assert_eq!(parts("cpx_nps1", "AMD_Instinct_MI300A"), Some(6));
        assert_eq!(parts("dpx_nps1", "MI355X"), Some(2));
        assert_eq!(parts("spx_nps1", ""), Some(1));
        assert_eq!(parts("other", ""), None);
    }
}
