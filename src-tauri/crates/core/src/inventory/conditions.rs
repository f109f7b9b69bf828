//! Which node conditions speak of accelerators, and which way round.
//!
//! EKS says `AcceleratedHardwareReady=False` when something is wrong; AKS and NVSentinel say `<fault>=True`. The table is
//! `data/conditions.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::glob::Pattern;
use super::input::{Condition, Node};

/// What a condition means for the accelerators of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not about accelerators, or in order.
    Fine,
    /// In trouble by a check that is often wrong, or that passes: shown, the cards stay usable.
    Soft,
    /// In trouble: free cards are not usable.
    Hard,
}

/// What a condition means for the accelerators of its node.
pub fn verdict(condition: &Condition) -> Verdict {
    match TABLE.condition.iter().find(|entry| entry.kind.matches(&condition.kind)) {
        Some(entry) if *entry.bad == *condition.status => {
            if entry.soft {
                Verdict::Soft
            } else {
                Verdict::Hard
            }
        }
        _ => Verdict::Fine,
    }
}

/// Whether the node reports `Ready=True`. Unknown, false and absent are all not ready.
pub fn is_ready(node: &Node) -> bool {
    node.conditions.iter().any(|condition| &*condition.kind == "Ready" && &*condition.status == "True")
}

/// The pressures that the kubelet reports: they keep new pods off, and say nothing about the cards.
pub fn pressures(node: &Node) -> impl Iterator<Item = &str> {
    node.conditions
        .iter()
        .filter(|condition| matches!(&*condition.kind, "DiskPressure" | "MemoryPressure" | "PIDPressure"))
        .filter(|condition| &*condition.status == "True")
        .map(|condition| &*condition.kind)
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("data/conditions.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
struct Table {
    condition: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Pattern,
    bad: String,
    #[serde(default)]
    soft: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_of(kind: &str, status: &str) -> Verdict {
        verdict(&Condition {
            kind: kind.into(),
            status: status.into(),
            reason: None,
            message: None,
            since: None,
        })
    }

    #[test]
    fn the_polarity_of_a_condition_depends_on_who_wrote_it() {
        assert_eq!(verdict_of("AcceleratedHardwareReady", "False"), Verdict::Hard);
        assert_eq!(verdict_of("AcceleratedHardwareReady", "True"), Verdict::Fine);
        assert_eq!(verdict_of("GPUMissing", "True"), Verdict::Hard);
        assert_eq!(verdict_of("GPUMissing", "False"), Verdict::Fine);
    }

    #[test]
    fn every_watch_of_nvsentinel_is_known_and_the_nvlink_watch_only_warns() {
        assert_eq!(verdict_of("GpuMemWatch", "True"), Verdict::Hard);
        assert_eq!(verdict_of("GpuSomethingNewWatch", "True"), Verdict::Hard);
        assert_eq!(verdict_of("GpuNvlinkWatch", "True"), Verdict::Soft);
        assert_eq!(verdict_of("GPUClockThrottling", "True"), Verdict::Soft);
    }

    #[test]
    fn an_undecided_or_foreign_condition_is_no_trouble() {
        assert_eq!(verdict_of("GPUMissing", "Unknown"), Verdict::Fine);
        assert_eq!(verdict_of("KernelDeadlock", "True"), Verdict::Fine);
    }
}
