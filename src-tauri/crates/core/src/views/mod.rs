//! Rows for the screens, made from the items of Kubernetes lists: pure functions from bytes to owned, small values.
//!
//! Invariants: what an object does not say is `None`, never 0 or `false`; a container's environment, a Secret's data and
//! anything else that may hold a secret is not in any row. One bad item is an error of that item alone.
//!
//! Deliberately absent: reading (see [`crate::reads`]), sorting and filtering, and the shapes that cross to the web view.

mod namespace;
mod node;
mod node_labels;
mod pod;
mod pod_status;
mod pod_wire;
mod text;

pub use namespace::NamespaceRow;
pub use node::NodeRow;
pub use pod::PodRow;
pub use pod_status::Health;

use crate::inventory::input::{Hold, Pod};

/// Fills in how many pods hold or want a place on each node.
pub fn count_pods(nodes: &mut [NodeRow], pods: &[Pod]) {
    let mut counts = std::collections::HashMap::<&str, u32>::new();
    for node in pods.iter().filter(|pod| pod.hold() != Hold::Ended).filter_map(|pod| pod.node.as_deref()) {
        *counts.entry(node).or_default() += 1;
    }
    for row in nodes {
        row.pods = Some(counts.get(&*row.name).copied().unwrap_or(0));
    }
}
