//! What the metrics of exporters measure: one table for NVIDIA's DCGM exporter and AMD's device metrics exporter.
//!
//! Sources: the default counters of dcgm-exporter, and the metric list of ROCm's device-metrics-exporter, whose
//! documentation writes names in capitals and whose wire has them in small letters; so case is ignored.
//! Deliberately absent: counters of links and pipes, which say nothing a fleet view shows.

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Share of time that a kernel ran, in percent.
    Busy,
    /// Share of time that the compute engine ran, 0 to 1; the one that MIG instances have.
    Engine,
    /// Memory in use, MiB.
    MemoryUsed,
    /// Memory not in use, MiB.
    MemoryFree,
    /// Memory that the driver keeps, MiB.
    MemoryReserved,
    /// All of the memory, MiB.
    MemoryTotal,
    /// Power drawn now, W.
    Power,
    /// Temperature of the chip, °C.
    Temperature,
    /// Code of the last XID error; 0 for none.
    Xid,
    /// 1 healthy, 0 not.
    Health,
}

/// Every metric that is read.
pub const METRICS: [(&str, Quantity); 16] = [
    ("DCGM_FI_DEV_GPU_UTIL", Quantity::Busy),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", Quantity::Engine),
    ("DCGM_FI_DEV_FB_USED", Quantity::MemoryUsed),
    ("DCGM_FI_DEV_FB_FREE", Quantity::MemoryFree),
    ("DCGM_FI_DEV_FB_RESERVED", Quantity::MemoryReserved),
    ("DCGM_FI_DEV_POWER_USAGE", Quantity::Power),
    ("DCGM_FI_DEV_GPU_TEMP", Quantity::Temperature),
    ("DCGM_FI_DEV_XID_ERRORS", Quantity::Xid),
    ("gpu_gfx_activity", Quantity::Busy),
    ("gpu_used_vram", Quantity::MemoryUsed),
    ("gpu_total_vram", Quantity::MemoryTotal),
    ("gpu_package_power", Quantity::Power),
    ("gpu_average_package_power", Quantity::Power),
    ("gpu_junction_temperature", Quantity::Temperature),
    ("gpu_health", Quantity::Health),
    ("average_package_power", Quantity::Power),
];

/// Metrics whose peak over a while tells an idle card from one between two batches.
pub const ACTIVITY: [&str; 3] = ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gpu_gfx_activity"];

/// What a metric measures; `None` for one that is not read.
pub fn quantity(metric: &str) -> Option<Quantity> {
    METRICS.iter().find(|(name, _)| name.eq_ignore_ascii_case(metric)).map(|(_, quantity)| *quantity)
}

/// Whether the metric is AMD's.
pub fn is_amd(metric: &str) -> bool {
    !metric.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("DCGM_"))
}

/// DCGM writes "not available" as one of its blank values: `0x7ffffff0` and above for 32 bits, `0x7ffffffffffffff0` and
/// above for 64 bits, 2^47 and above for floating point. Nothing that is measured here comes near the least of them.
const LEAST_BLANK: f64 = 2_147_483_632.0;

/// A measured value; `None` for a blank one and for what no sensor says.
pub fn measured(value: f64) -> Option<f64> {
    (value.is_finite() && (0.0..LEAST_BLANK).contains(&value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_value_of_dcgm_is_not_a_measurement() {
        for blank in
            ["9223372036854775794", "2147483632", "2147483634", "140737488355328", "NaN", "+Inf", "-1"]
        {
            assert_eq!(measured(blank.parse().expect("a number")), None, "{blank}");
        }
        assert_eq!(measured(0.0), Some(0.0));
        assert_eq!(measured(288_000.0), Some(288_000.0));
    }

    #[test]
    fn amd_names_are_known_in_capitals_and_in_small_letters() {
        assert_eq!(quantity("GPU_GFX_ACTIVITY"), Some(Quantity::Busy));
        assert_eq!(quantity("gpu_used_vram"), Some(Quantity::MemoryUsed));
        assert_eq!(quantity("gpu_used_visible_vram"), None);
    }

    #[test]
    fn no_metric_is_in_the_table_twice() {
        for (at, (name, _)) in METRICS.iter().enumerate() {
            assert!(METRICS[at + 1..].iter().all(|(other, _)| !other.eq_ignore_ascii_case(name)), "{name}");
        }
    }
}
