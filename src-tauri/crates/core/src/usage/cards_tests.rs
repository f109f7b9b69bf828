//! Texts as DCGM's and AMD's exporters serve them.

use super::*;
use crate::usage::exposition::samples;

const DCGM: &str = r#"
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aaaa",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="exporter-x1",container="train",namespace="research",pod="llm-0"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-bbbb",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="exporter-x1",container="lab",namespace="dev",pod="notebook"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-cccc",device="nvidia2",modelName="NVIDIA H100 80GB HBM3",Hostname="exporter-x1"} 0
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aaaa"} 70000
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-aaaa"} 11000
DCGM_FI_DEV_FB_RESERVED{gpu="0",UUID="GPU-aaaa"} 559
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaa"} 684.25
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-aaaa"} 61
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-aaaa",err_code="0",err_msg="No Error"} 0
DCGM_FI_DEV_XID_ERRORS{gpu="2",UUID="GPU-cccc",err_code="79",err_msg="GPU has fallen off the bus, see logs"} 79
DCGM_FI_DEV_POWER_USAGE{gpu="2",UUID="GPU-cccc"} 9223372036854775794
"#;

fn cards(text: &str, origin: Origin<'_>) -> Vec<CardUse> {
    let mut cards = Cards::default();
    for sample in samples(text, |name| quantity(name).is_some()) {
        cards.add(&sample, origin);
    }
    cards.into_cards()
}

fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 0.01)
}

#[test]
fn a_card_of_dcgm_has_its_load_memory_power_heat_and_pod() {
    let cards = cards(DCGM, Origin::Exporter { node: Some("node-1") });
    assert_eq!(cards.len(), 3);
    let first = &cards[0];
    assert_eq!(
        (first.node.as_deref(), &*first.id, first.index.as_deref()),
        (Some("node-1"), "GPU-aaaa", Some("0"))
    );
    assert!(
        near(first.busy, 97.0) && near(first.memory_used, 70_000.0) && near(first.memory_total, 81_559.0)
    );
    assert!(near(first.power, 684.25) && near(first.temperature, 61.0));
    assert_eq!((first.xid, first.is_idle()), (Some(0), Some(false)));
    assert_eq!((&*first.holders[0].namespace, &*first.holders[0].pod), ("research", "llm-0"));
}

#[test]
fn a_card_that_a_pod_holds_and_does_not_use_is_idle_and_a_free_one_is_not() {
    let cards = cards(DCGM, Origin::Exporter { node: Some("node-1") });
    assert_eq!(cards[1].is_idle(), Some(true));
    assert_eq!(cards[2].is_idle(), None, "nothing says whether it is held");
    assert_eq!(cards[2].xid, Some(79));
}

#[test]
fn a_blank_is_unknown_and_never_zero() {
    let cards = cards(DCGM, Origin::Exporter { node: Some("node-1") });
    assert_eq!(cards[2].power, None);
    assert_eq!((cards[1].memory_used, cards[1].temperature, cards[1].xid), (None, None, None));
}

#[test]
fn mig_instances_of_one_card_are_rows_of_their_own_with_the_engine_as_load() {
    let text = r#"
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1",pod="p",namespace="n"} 0.42
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2"} 0
"#;
    let cards = cards(text, Origin::Exporter { node: Some("n1") });
    assert_eq!(
        cards.iter().map(|card| card.instance.as_deref()).collect::<Vec<_>>(),
        [Some("3g.40gb #1"), Some("3g.40gb #2")]
    );
    assert!(near(cards[0].busy, 42.0));
}

#[test]
fn one_card_of_many_pods_is_one_row() {
    let text: String = (0..40)
        .map(|pod| {
            format!("DCGM_FI_DEV_GPU_UTIL{{UUID=\"GPU-a\",pod=\"p{pod:02}\",namespace=\"n\"}} {pod}\n")
        })
        .collect();
    let cards = cards(&text, Origin::Exporter { node: None });
    assert_eq!((cards.len(), cards[0].holders.len()), (1, 16));
    assert!(near(cards[0].busy, 39.0));
}

#[test]
fn prometheus_names_the_workload_in_exported_labels_and_the_exporter_in_plain_ones() {
    let text = r#"
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-a",Hostname="n1",pod="nvidia-dcgm-exporter-x",namespace="gpu-operator",exported_pod="llm",exported_namespace="research"} 3
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-b",Hostname="n1",pod="nvidia-dcgm-exporter-x",namespace="gpu-operator"} 0
DCGM_FI_DEV_GPU_UTIL{UUID="GPU-c",Hostname="n1",pod="honoured",namespace="dev"} 0
"#;
    let cards = cards(text, Origin::Prometheus);
    let pods: Vec<Option<&str>> =
        cards.iter().map(|card| card.holders.first().map(|holder| &*holder.pod)).collect();
    assert_eq!(pods, [Some("llm"), None, Some("honoured")]);
}

#[test]
fn a_peak_keeps_a_card_between_two_batches_from_looking_idle() {
    let text = r#"DCGM_FI_DEV_GPU_UTIL{UUID="GPU-a",exported_pod="p",exported_namespace="n"} 0"#;
    let mut cards = Cards::default();
    for sample in samples(text, |_| true) {
        cards.add(&sample, Origin::Prometheus);
    }
    for sample in samples(r#"DCGM_FI_DEV_GPU_UTIL{UUID="GPU-a"} 88"#, |_| true) {
        cards.add_peak(&sample, Origin::Prometheus);
    }
    let cards = cards.into_cards();
    assert_eq!((cards.len(), cards[0].is_idle()), (1, Some(false)));
    assert!(near(cards[0].busy, 0.0) && near(cards[0].peak, 88.0));
}

#[test]
fn an_amd_card_is_read_and_the_zeros_of_its_other_partitions_are_unknown() {
    let text = r#"
gpu_gfx_activity{gpu_id="0",serial_number="692",card_model="MI300X",hostname="x",gpu_partition_id="0",pod="vllm",namespace="serve"} 64
gpu_used_vram{gpu_id="0",serial_number="692",gpu_partition_id="0"} 120000
gpu_total_vram{gpu_id="0",serial_number="692",gpu_partition_id="0"} 196592
gpu_package_power{gpu_id="0",serial_number="692",gpu_partition_id="0"} 512
gpu_junction_temperature{gpu_id="0",serial_number="692",gpu_partition_id="0"} 55
gpu_health{gpu_id="0",serial_number="692",gpu_partition_id="0"} 1
GPU_GFX_ACTIVITY{gpu_id="1",serial_number="692",gpu_partition_id="1"} 0
"#;
    let cards = cards(text, Origin::Exporter { node: Some("mi-1") });
    assert_eq!(cards.len(), 2);
    assert!(
        near(cards[0].busy, 64.0) && near(cards[0].memory_total, 196_592.0) && near(cards[0].power, 512.0)
    );
    assert_eq!((cards[0].healthy, cards[0].model.as_deref()), (Some(true), Some("MI300X")));
    assert_eq!((cards[1].instance.as_deref(), cards[1].busy), (Some("partition 1"), None));
}

#[test]
fn without_pod_labels_the_inventory_says_whether_a_card_is_held() {
    let inventory = |requested: i64| {
        let node = serde_json::json!({"metadata": {"name": "n1"}, "status": {
            "capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"}}});
        let pod = serde_json::json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"nodeName": "n1", "containers": [
            {"name": "c", "resources": {"requests": {"nvidia.com/gpu": requested.to_string()}}}]}, "status": {"phase": "Running"}});
        let node: crate::inventory::input::Node = serde_json::from_value(node).expect("a node");
        let pod: crate::inventory::input::Pod = serde_json::from_value(pod).expect("a pod");
        let pods = [pod];
        crate::inventory::node_inventory(&node, Some(pods.iter()), Vec::new())
    };
    for (requested, held) in [(8, Some(true)), (0, Some(false)), (3, None)] {
        let mut cards =
            cards("DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-a\"} 0", Origin::Exporter { node: Some("n1") });
        judge_by_inventory(&mut cards, [&inventory(requested)]);
        assert_eq!(cards[0].held, held, "{requested}");
    }
}
