//! A ResourceSlice and its devices.
//!
//! All served versions of `resource.k8s.io` are read by shape, not by `apiVersion`: v1 and v1beta2 have the fields of a
//! device on the device, v1beta1 nests them under `basic`.

use serde::{Deserialize, Deserializer};

use super::lenient::{Faults, Keep, Lenient, Shape, Table, derived, objects};
use crate::inventory::name::Name;
use crate::inventory::quantity::Quantity;

/// A ResourceSlice: some devices of one pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceSlice {
    /// `metadata.name`.
    pub name: Box<str>,
    /// Driver that published the slice, such as `gpu.nvidia.com`.
    pub driver: Name,
    /// Pool that the devices belong to.
    pub pool: Name,
    /// Only slices of the pool's highest generation count.
    pub generation: i64,
    /// How many slices the pool has in this generation.
    pub slice_count: Option<i64>,
    /// Where the devices can be used.
    pub placement: Placement,
    /// The devices.
    pub devices: Box<[Device]>,
    /// Fields that could not be read.
    pub faults: Faults,
}

/// Where a device can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// On one node.
    Node(Name),
    /// On several nodes (`nodeSelector` or `allNodes`): the device belongs to none of them.
    #[default]
    Shared,
    /// Each device says it for itself.
    PerDevice,
}

/// One device of a slice. Texts that repeat within a slice are shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// Name within the pool.
    pub name: Name,
    /// The driver's word for what it is: `gpu`, `mig`, `vfio`, `amdgpu`, `amdgpu-partition`.
    pub device_type: Option<Name>,
    /// Product name as the driver writes it.
    pub model: Option<Name>,
    /// How the card is cut: a MIG profile or an AMD partition profile.
    pub profile: Option<Name>,
    /// Driver version.
    pub driver_version: Option<Name>,
    /// Device memory in MiB; `None` when the driver does not say, or says 0 for unknown.
    pub memory_mib: Option<i64>,
    /// What identifies the card of a device that consumes no counters: first its parent, else the device itself.
    pub card_ids: Box<[Box<str>]>,
    /// Whether the device is a part of a card that may be listed as well.
    pub is_part: bool,
    /// Counter sets (one per card) that the device draws from.
    pub counter_sets: Box<[Name]>,
    /// Taints that the driver wrote.
    pub taints: Box<[DeviceTaint]>,
    /// Where the device can be used, when the slice leaves it to the device.
    pub placement: Placement,
}

/// A taint of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTaint {
    /// Key, such as `gpu.nvidia.com/gpu-lost`.
    pub key: Box<str>,
    /// Value, such as the number of an XID error.
    pub value: Option<Box<str>>,
    /// Whether new claims are kept off: every effect but `None`, which only informs.
    pub blocks: bool,
}

struct Everything;

impl Keep for Everything {
    fn keep(_: &str) -> bool {
        true
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireItem {
    metadata: Lenient<WireMeta>,
    spec: Lenient<WireSlice>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireMeta {
    name: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireSlice {
    driver: Lenient<Name>,
    pool: Lenient<WirePool>,
    node_name: Lenient<Name>,
    per_device_node_selection: Lenient<bool>,
    partition_type_attribute: Lenient<Box<str>>,
    devices: Lenient<Vec<WireDevice>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePool {
    name: Lenient<Name>,
    generation: Lenient<i64>,
    resource_slice_count: Lenient<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireDevice {
    name: Lenient<Name>,
    /// v1beta1 only.
    basic: Lenient<Box<WireDevice>>,
    attributes: Lenient<Table<Everything, WireAttribute>>,
    capacity: Lenient<Table<Everything, WireCapacity>>,
    consumes_counters: Lenient<Vec<WireConsumption>>,
    taints: Lenient<Vec<WireTaint>>,
    node_name: Lenient<Name>,
}

impl<'de> Shape<'de> for Box<WireDevice> {
    fn object<A: serde::de::MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
        Ok(WireDevice::object(fields)?.map(Box::new))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireAttribute {
    string: Lenient<Box<str>>,
    version: Lenient<Box<str>>,
    int: Lenient<i64>,
}

/// `{"value": "80Gi"}`, or the bare quantity of the alpha API.
#[derive(Default)]
struct WireCapacity(Option<Box<str>>);

impl<'de> Shape<'de> for WireCapacity {
    fn text(value: &str) -> Option<Self> {
        Some(Self(Some(value.into())))
    }
    fn integer(value: i64) -> Option<Self> {
        Some(Self(Some(value.to_string().into())))
    }
    fn object<A: serde::de::MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Valued {
            value: Lenient<Box<str>>,
        }
        Ok(derived::<Valued, A>(fields)?.map(|valued| Self(valued.value.read())))
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireConsumption {
    counter_set: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireTaint {
    key: Lenient<Box<str>>,
    value: Lenient<Box<str>>,
    effect: Lenient<Box<str>>,
}

objects!(WireItem, WireMeta, WireSlice, WirePool, WireDevice, WireAttribute, WireConsumption, WireTaint);

/// Shares equal texts within one slice.
#[derive(Default)]
struct SharedTexts(Vec<Name>);

impl SharedTexts {
    fn share(&mut self, text: &str) -> Name {
        if let Some(known) = self.0.iter().find(|known| known.as_ref() == text) {
            return known.clone();
        }
        let text: Name = text.into();
        self.0.push(text.clone());
        text
    }
}

impl<'de> Deserialize<'de> for ResourceSlice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut faults = Faults::default();
        let item = Lenient::<WireItem>::deserialize(deserializer)?.take_object("item", &mut faults);
        let spec = item.spec.take("spec", &mut faults).unwrap_or_default();
        let pool = spec.pool.take("spec.pool", &mut faults).unwrap_or_default();
        let driver = spec.driver.take("spec.driver", &mut faults).unwrap_or_default();
        let placement = match spec.node_name.read() {
            Some(node) if !node.is_empty() => Placement::Node(node),
            _ if spec.per_device_node_selection == Lenient::Read(true) => Placement::PerDevice,
            _ => Placement::Shared,
        };
        let partition_type = spec.partition_type_attribute.read();
        let mut texts = SharedTexts::default();
        let devices = spec.devices.take("spec.devices", &mut faults).unwrap_or_default();
        Ok(Self {
            name: item.metadata.read().and_then(|meta| meta.name.read()).unwrap_or_default(),
            devices: devices
                .into_iter()
                .filter_map(|device| device.into_device(&driver, partition_type.as_deref(), &mut texts))
                .collect(),
            driver,
            pool: pool.name.read().unwrap_or_default(),
            generation: pool.generation.read().unwrap_or_default(),
            slice_count: pool.resource_slice_count.read(),
            placement,
            faults,
        })
    }
}

/// Attributes and capacities of a device, by their names without the driver's domain.
struct Facts<'a> {
    driver: &'a str,
    attributes: Option<&'a Table<Everything, WireAttribute>>,
    capacity: Option<&'a Table<Everything, WireCapacity>>,
}

impl Facts<'_> {
    fn attribute(&self, name: &str) -> Option<&WireAttribute> {
        let is_it = |key: &str| {
            key == name || key.strip_prefix(self.driver).is_some_and(|k| k.strip_prefix('/') == Some(name))
        };
        self.attributes?.entries.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<&str> {
        let attribute = self.attribute(name)?;
        match (&attribute.string, &attribute.version) {
            (Lenient::Read(text), _) | (_, Lenient::Read(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    fn memory_mib(&self) -> Option<i64> {
        let is_memory = |key: &str| key == "memory" || key.strip_suffix("/memory") == Some(self.driver);
        let (_, WireCapacity(text)) = self.capacity?.entries.iter().find(|(key, _)| is_memory(key))?;
        let bytes = text.as_deref()?.parse::<Quantity>().ok()?.floor();
        Some(bytes >> 20).filter(|mib| *mib > 0)
    }
}

impl WireDevice {
    fn into_device(
        self,
        driver: &str,
        partition_type: Option<&str>,
        texts: &mut SharedTexts,
    ) -> Option<Device> {
        let name = self.name.read()?;
        let body = match self.basic.read() {
            Some(basic) => *basic,
            None => Self { name: Lenient::Absent, basic: Lenient::Absent, ..self },
        };
        let (attributes, capacity) = (body.attributes.read(), body.capacity.read());
        let facts = Facts { driver, attributes: attributes.as_ref(), capacity: capacity.as_ref() };
        let mut shared = |text: Option<&str>| text.map(|text| texts.share(text));

        // 1.37 names the attribute that holds the partition type; before, each driver has its own.
        let profile = partition_type
            .map(|key| key.rsplit_once('/').map_or(key, |(_, name)| name))
            .and_then(|key| facts.text(key))
            .or_else(|| facts.text("profile"))
            .or_else(|| facts.text("partitionProfile"))
            .or_else(|| facts.text("computePartition"))
            .or_else(|| profile_in_name(&name));
        let parent = facts.text("parentUUID").or_else(|| facts.text("parentPciAddr"));
        let device_type = facts.text("type");
        let is_part = parent.is_some()
            || device_type.is_some_and(|kind| matches!(kind, "mig" | "vf") || kind.ends_with("-partition"));
        let counter_sets: Box<[Name]> = body
            .consumes_counters
            .read()
            .unwrap_or_default()
            .into_iter()
            .filter_map(|consumption| consumption.counter_set.read())
            .filter_map(|set| shared(Some(&set)))
            .collect();
        Some(Device {
            device_type: shared(device_type),
            model: shared(facts.text("productName").or_else(|| facts.text("model"))),
            profile: shared(profile),
            driver_version: shared(facts.text("driverVersion")),
            memory_mib: facts.memory_mib(),
            card_ids: if counter_sets.is_empty() { card_ids(&facts, parent) } else { Box::default() },
            is_part,
            counter_sets,
            taints: body.taints.read().into_iter().flatten().filter_map(WireTaint::into_taint).collect(),
            placement: match body.node_name.read() {
                Some(node) if !node.is_empty() => Placement::Node(node),
                _ => Placement::Shared,
            },
            name,
        })
    }
}

/// The profile in NVIDIA's device names, `gpu-<minor>-mig-<profile>-<id>-<start>`.
fn profile_in_name(name: &str) -> Option<&str> {
    let (_, mig) = name.split_once("-mig-")?;
    mig.rsplitn(3, '-').nth(2)
}

/// What the card of a device is called. A part names its parent (NVIDIA: `parentUUID`; AMD: `parentPciAddr`, or the bus
/// address, which AMD writes alike on all parts of a card); a card names itself, by every name that a part could use.
/// AMD's `deviceID` is the last resort and only when it is long: the short form is the PCI id of the model, the same on
/// every card. The device name completes the list, so that it is never empty.
fn card_ids(facts: &Facts<'_>, parent: Option<&str>) -> Box<[Box<str>]> {
    if let Some(parent) = parent {
        return [parent.into()].into();
    }
    let mut ids: Vec<Box<str>> = ["uuid", "pciAddr", "resource.kubernetes.io/pciBusID", "pciBusID"]
        .into_iter()
        .filter_map(|key| facts.text(key))
        .map(Box::from)
        .collect();
    if ids.is_empty() {
        let unique = |id: &&str| id.trim_start_matches("0x").len() > 4;
        ids.extend(
            ["parentDeviceID", "deviceID"]
                .into_iter()
                .find_map(|key| facts.text(key).filter(unique))
                .map(Box::from),
        );
    }
    ids.into()
}

impl WireTaint {
    pub(super) fn into_taint(self) -> Option<DeviceTaint> {
        Some(DeviceTaint {
            key: self.key.read()?,
            value: self.value.read(),
            blocks: self.effect.read().as_deref() != Some("None"),
        })
    }
}
