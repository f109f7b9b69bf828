//! A ResourceClaim: what it asks for, and which devices it was given.
//!
//! A request of v1 is under `exactly` or `firstAvailable`; v1beta1 has its fields on the request itself.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::lenient::{Faults, Lenient, objects};
use crate::inventory::name::Name;

/// A ResourceClaim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceClaim {
    /// `metadata.namespace`.
    pub namespace: Name,
    /// `metadata.name`.
    pub name: Name,
    /// When the claim was made.
    pub created: Option<Timestamp>,
    /// What it asks for.
    pub requests: Box<[DeviceRequest]>,
    /// Whether it has an allocation.
    pub is_allocated: bool,
    /// The devices that it was given.
    pub devices: Box<[AllocatedDevice]>,
    /// Names of the pods that it is reserved for.
    pub reserved_for: Box<[Name]>,
    /// Fields that could not be read.
    pub faults: Faults,
}

/// A request within a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRequest {
    /// DeviceClass; of several alternatives the first.
    pub class: Name,
    /// How many devices; `None` for all that match.
    pub count: Option<i64>,
}

/// A device that a claim was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllocatedDevice {
    /// Driver of the device.
    pub driver: Name,
    /// Pool of the device.
    pub pool: Name,
    /// Name of the device.
    pub device: Name,
    /// Access for administration beside the real user: holds nothing.
    pub admin_access: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireItem {
    metadata: Lenient<WireMeta>,
    spec: Lenient<WireClaim>,
    status: Lenient<WireClaimStatus>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireMeta {
    name: Lenient<Name>,
    namespace: Lenient<Name>,
    creation_timestamp: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireClaim {
    devices: Lenient<WireClaimDevices>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireClaimDevices {
    requests: Lenient<Vec<WireRequest>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireRequest {
    exactly: Lenient<WireExactly>,
    first_available: Lenient<Vec<WireExactly>>,
    device_class_name: Lenient<Name>,
    allocation_mode: Lenient<Box<str>>,
    count: Lenient<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireExactly {
    device_class_name: Lenient<Name>,
    allocation_mode: Lenient<Box<str>>,
    count: Lenient<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireClaimStatus {
    allocation: Lenient<WireAllocation>,
    reserved_for: Lenient<Vec<WireConsumer>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireAllocation {
    devices: Lenient<WireAllocatedDevices>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireAllocatedDevices {
    results: Lenient<Vec<WireResult>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireResult {
    driver: Lenient<Name>,
    pool: Lenient<Name>,
    device: Lenient<Name>,
    admin_access: Lenient<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireConsumer {
    resource: Lenient<Box<str>>,
    name: Lenient<Name>,
}

objects!(
    WireItem,
    WireMeta,
    WireClaim,
    WireClaimDevices,
    WireRequest,
    WireExactly,
    WireClaimStatus,
    WireAllocation,
    WireAllocatedDevices,
    WireResult,
    WireConsumer,
);

impl<'de> Deserialize<'de> for ResourceClaim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut faults = Faults::default();
        let item = Lenient::<WireItem>::deserialize(deserializer)?.take_object("item", &mut faults);
        let meta = item.metadata.take("metadata", &mut faults).unwrap_or_default();
        let spec = item.spec.take("spec", &mut faults).unwrap_or_default();
        let status = item.status.take("status", &mut faults).unwrap_or_default();
        let requests = spec.devices.take("spec.devices", &mut faults).unwrap_or_default().requests;
        let allocation = status.allocation.take("status.allocation", &mut faults);
        let is_allocated = allocation.is_some();
        let results = allocation
            .and_then(|allocation| allocation.devices.read())
            .and_then(|devices| devices.results.read());
        Ok(Self {
            namespace: meta.namespace.read().unwrap_or_default(),
            name: meta.name.read().unwrap_or_default(),
            created: meta.creation_timestamp.read().and_then(|time| time.parse().ok()),
            requests: requests.read().into_iter().flatten().filter_map(WireRequest::into_request).collect(),
            is_allocated,
            devices: results.into_iter().flatten().filter_map(WireResult::into_device).collect(),
            reserved_for: status
                .reserved_for
                .read()
                .into_iter()
                .flatten()
                .filter(|consumer| consumer.resource == Lenient::Read("pods".into()))
                .filter_map(|consumer| consumer.name.read())
                .collect(),
            faults,
        })
    }
}

impl WireRequest {
    fn into_request(self) -> Option<DeviceRequest> {
        let first = self.first_available.read().into_iter().flatten().next();
        let asked = self.exactly.read().or(first).unwrap_or(WireExactly {
            device_class_name: self.device_class_name,
            allocation_mode: self.allocation_mode,
            count: self.count,
        });
        Some(DeviceRequest {
            class: asked.device_class_name.read()?,
            count: match asked.allocation_mode.read().as_deref() {
                Some("All") => None,
                _ => Some(asked.count.read().unwrap_or(1)),
            },
        })
    }
}

impl WireResult {
    fn into_device(self) -> Option<AllocatedDevice> {
        Some(AllocatedDevice {
            driver: self.driver.read()?,
            pool: self.pool.read()?,
            device: self.device.read()?,
            admin_access: self.admin_access.read().unwrap_or_default(),
        })
    }
}
