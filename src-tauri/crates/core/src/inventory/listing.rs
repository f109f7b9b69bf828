//! What the inventory is computed from, and how much of it could be read.
//!
//! Absent, forbidden, failed and empty are four different answers, and they stay different to the end.

use serde::Serialize;

use super::input::{DeviceClass, DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice};

/// A list of the API, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub enum Listing<'a, T> {
    /// Read; it may be empty.
    Read(&'a [T]),
    /// Not read.
    Unread(Unread),
}

/// Why a list was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unread {
    /// The credential may not.
    Forbidden,
    /// The API is not served.
    Absent,
    /// The read failed.
    Error,
}

impl<T> Clone for Listing<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

// Derived, this would ask for `T: Copy`.
impl<T> Copy for Listing<'_, T> {}

impl<'a, T> Listing<'a, T> {
    /// The items, where the list was read.
    pub fn items(self) -> Option<&'a [T]> {
        match self {
            Self::Read(items) => Some(items),
            Self::Unread(_) => None,
        }
    }

    /// How the list was read.
    pub fn access(self) -> Access {
        match self {
            Self::Read(_) => Access::Ok,
            Self::Unread(Unread::Forbidden) => Access::Forbidden,
            Self::Unread(Unread::Absent) => Access::Absent,
            Self::Unread(Unread::Error) => Access::Error,
        }
    }
}

impl<'a, T> From<Option<&'a [T]>> for Listing<'a, T> {
    /// A list that is not there is taken as forbidden.
    fn from(items: Option<&'a [T]>) -> Self {
        items.map_or(Self::Unread(Unread::Forbidden), Self::Read)
    }
}

/// What the inventory of a cluster is computed from.
#[derive(Clone, Copy, Debug)]
pub struct ClusterInput<'a> {
    /// Nodes.
    pub nodes: Listing<'a, Node>,
    /// Pods of all namespaces.
    pub pods: Listing<'a, Pod>,
    /// ResourceSlices.
    pub resource_slices: Listing<'a, ResourceSlice>,
    /// ResourceClaims of all namespaces.
    pub resource_claims: Listing<'a, ResourceClaim>,
    /// DeviceClasses.
    pub device_classes: Listing<'a, DeviceClass>,
    /// DeviceTaintRules.
    pub device_taint_rules: Listing<'a, DeviceTaintRule>,
}

/// The rows of one cluster, owned.
#[derive(Clone, Debug)]
pub struct ClusterRows {
    /// Nodes.
    pub nodes: Result<Vec<Node>, Unread>,
    /// Pods of all namespaces.
    pub pods: Result<Vec<Pod>, Unread>,
    /// ResourceSlices.
    pub resource_slices: Result<Vec<ResourceSlice>, Unread>,
    /// ResourceClaims of all namespaces.
    pub resource_claims: Result<Vec<ResourceClaim>, Unread>,
    /// DeviceClasses.
    pub device_classes: Result<Vec<DeviceClass>, Unread>,
    /// DeviceTaintRules.
    pub device_taint_rules: Result<Vec<DeviceTaintRule>, Unread>,
}

impl ClusterRows {
    /// The rows as input of the inventory.
    pub fn input(&self) -> ClusterInput<'_> {
        ClusterInput {
            nodes: Listing::from(&self.nodes),
            pods: Listing::from(&self.pods),
            resource_slices: Listing::from(&self.resource_slices),
            resource_claims: Listing::from(&self.resource_claims),
            device_classes: Listing::from(&self.device_classes),
            device_taint_rules: Listing::from(&self.device_taint_rules),
        }
    }
}

impl<'a, T> From<&'a Result<Vec<T>, Unread>> for Listing<'a, T> {
    fn from(list: &'a Result<Vec<T>, Unread>) -> Self {
        match list {
            Ok(items) => Self::Read(items),
            Err(reason) => Self::Unread(*reason),
        }
    }
}

/// How a list was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read.
    Ok,
    /// The credential may not.
    Forbidden,
    /// The API is not served.
    Absent,
    /// The read failed.
    Error,
}

/// How the lists were read: a number that depends on an unread one is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accesses {
    /// Nodes.
    pub nodes: Access,
    /// Pods.
    pub pods: Access,
    /// ResourceSlices.
    pub resource_slices: Access,
    /// ResourceClaims.
    pub resource_claims: Access,
    /// DeviceClasses.
    pub device_classes: Access,
    /// DeviceTaintRules.
    pub device_taint_rules: Access,
}

impl Accesses {
    /// How the lists of an input were read.
    pub fn of(input: &ClusterInput<'_>) -> Self {
        Self {
            nodes: input.nodes.access(),
            pods: input.pods.access(),
            resource_slices: input.resource_slices.access(),
            resource_claims: input.resource_claims.access(),
            device_classes: input.device_classes.access(),
            device_taint_rules: input.device_taint_rules.access(),
        }
    }
}
