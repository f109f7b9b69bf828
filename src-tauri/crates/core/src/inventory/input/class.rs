//! DeviceClasses and DeviceTaintRules.

use serde::{Deserialize, Deserializer};

use super::lenient::{Lenient, objects};
use super::slice::{DeviceTaint, WireTaint};

/// A DeviceClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceClass {
    /// `metadata.name`.
    pub name: Box<str>,
    /// The extended resource name that pods may ask for instead (KEP-5004).
    pub extended_resource: Option<Box<str>>,
}

/// A DeviceTaintRule: a taint that an administrator puts on devices from outside their slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTaintRule {
    /// `metadata.name`.
    pub name: Box<str>,
    /// Whether there is a selector; without one the rule matches nothing.
    pub has_selector: bool,
    /// Whether the selector has criteria that need CEL or a class to decide: such a rule cannot be joined here.
    pub needs_evaluation: bool,
    /// Driver to match, or all.
    pub driver: Option<Box<str>>,
    /// Pool to match, or all.
    pub pool: Option<Box<str>>,
    /// Device to match, or all.
    pub device: Option<Box<str>>,
    /// The taint.
    pub taint: Option<DeviceTaint>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireClassItem {
    metadata: Lenient<WireName>,
    spec: Lenient<WireClass>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireRuleItem {
    metadata: Lenient<WireName>,
    spec: Lenient<WireRule>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireName {
    name: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Nothing {}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireClass {
    extended_resource_name: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireRule {
    device_selector: Lenient<WireSelector>,
    taint: Lenient<WireTaint>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireSelector {
    driver: Lenient<Box<str>>,
    pool: Lenient<Box<str>>,
    device: Lenient<Box<str>>,
    device_class_name: Lenient<Box<str>>,
    selectors: Lenient<Vec<Nothing>>,
}

objects!(WireClassItem, WireRuleItem, WireName, Nothing, WireClass, WireRule, WireSelector);

impl<'de> Deserialize<'de> for DeviceClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = Lenient::<WireClassItem>::deserialize(deserializer)?.read().unwrap_or_default();
        let spec = item.spec.read().unwrap_or_default();
        Ok(Self {
            name: item.metadata.read().and_then(|meta| meta.name.read()).unwrap_or_default(),
            extended_resource: spec.extended_resource_name.read().filter(|name| !name.is_empty()),
        })
    }
}

impl<'de> Deserialize<'de> for DeviceTaintRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = Lenient::<WireRuleItem>::deserialize(deserializer)?.read().unwrap_or_default();
        let spec = item.spec.read().unwrap_or_default();
        let selector = spec.device_selector.read();
        let has_selector = selector.is_some();
        let selector = selector.unwrap_or_default();
        let present = |text: Lenient<Box<str>>| text.read().filter(|text| !text.is_empty());
        Ok(Self {
            name: item.metadata.read().and_then(|meta| meta.name.read()).unwrap_or_default(),
            has_selector,
            needs_evaluation: present(selector.device_class_name).is_some()
                || selector.selectors.read().is_some_and(|selectors| !selectors.is_empty()),
            driver: present(selector.driver),
            pool: present(selector.pool),
            device: present(selector.device),
            taint: spec.taint.read().and_then(WireTaint::into_taint),
        })
    }
}
