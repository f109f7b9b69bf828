//! The rows that the inventory is computed from, read straight from the items of Kubernetes lists.
//!
//! `serde_json::from_slice::<Node>(item)` never fails on valid JSON: a field of the wrong type is unknown and named in
//! the row's `faults`, and an item that is no object at all becomes a row without a name. A row is owned and small:
//! what the inventory does not use is skipped while parsing.
//!
//! Deliberately absent: everything that other views need (images, volumes, environment), and any judgement. The rows say
//! what the API server said; what it means is decided in the modules above.

mod claim;
mod class;
pub(super) mod lenient;
mod node;
mod pod;
mod pod_json;
mod slice;
mod table;

pub use claim::{AllocatedDevice, DeviceRequest, ResourceClaim};
pub use class::{DeviceClass, DeviceTaintRule};
pub use lenient::Faults;
pub use node::{Condition, Node, Taint};
pub use pod::{Hold, Owner, Phase, Pod, Scheduling, Sharing};
pub use slice::{Device, DeviceTaint, Placement, ResourceSlice};
pub use table::{Labels, Resources};

#[cfg(test)]
mod tests;
