//! What exporters and Prometheus measure of the demo's cards, and the services and pods that serve it.
//!
//! Invariant: a card is held by the pod that the scheduler put on its node, so that the measurements and the inventory
//! tell one story. Deliberately absent: change over time.

use serde_json::{Value, json};

use super::{ClusterPlan, NodePlan, PodPlan, spread, uid};
use crate::apiserver::{Page, Series, World};
use crate::scenario::Card;
use jiff::Timestamp;

/// What measures a cluster's accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// Nothing.
    No,
    /// DCGM exporters on the nodes, and a Prometheus that scrapes them.
    DcgmAndPrometheus,
    /// A Prometheus only, as where exporters are out of reach.
    Prometheus,
    /// AMD's exporters on the nodes.
    Amd,
}

/// One card or MIG instance.
struct Device {
    index: usize,
    instance: Option<(&'static str, usize)>,
    holder: Option<(String, String)>,
}

/// Adds services, exporter pods and their pages to a cluster's world.
pub fn add(world: &mut World, plan: &ClusterPlan, id: &str, now: Timestamp, seed: u64) {
    let (exporter, namespace, port, image) = match plan.measured {
        Measured::No => return,
        Measured::Amd => (
            "default-metrics-exporter",
            "kube-amd-gpu",
            5000,
            "docker.io/rocm/device-metrics-exporter:v1.4.0",
        ),
        _ => ("nvidia-dcgm-exporter", "gpu-operator", 9400, "nvcr.io/nvidia/k8s/dcgm-exporter:4.4.1-4.5.2"),
    };
    let pods = world.list_mut("pods").map(|pods| pods.clone()).unwrap_or_default();
    let nodes: Vec<&NodePlan> = plan.nodes().iter().filter(|node| node.card != Card::None).collect();
    let mut scraped = Vec::new();
    for node in &nodes {
        let series = series(node, &pods, plan.measured, seed);
        scraped.extend(series.iter().map(|series| as_scraped(series, exporter, namespace)));
        if plan.measured == Measured::Prometheus {
            continue;
        }
        let names: &'static [&'static str] = std::slice::from_ref(&node.name);
        let daemon = PodPlan::running(namespace, "DaemonSet", exporter, image, names).aged(60 * 24 * 20);
        for mut pod in daemon.objects(&format!("{id}/{}", node.name), now, seed) {
            pod["metadata"]["labels"]["app"] = exporter.into();
            pod["spec"]["containers"][0]["ports"] = json!([{"name": "metrics", "containerPort": port}]);
            let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            // A kubelet that went silent serves no proxied request.
            if !node.lost {
                let path = format!("/api/v1/namespaces/{namespace}/pods/{name}:{port}/proxy/metrics");
                world.pages.insert(path, Page::Text(text(&series)));
            }
            world.add("pods", [pod]);
        }
    }
    if plan.measured != Measured::Prometheus {
        world.add("services", [service(exporter, namespace, port, "metrics", id, seed)]);
    }
    if plan.measured != Measured::Amd {
        let name = "kube-prometheus-stack-prometheus";
        world.add("services", [service(name, "monitoring", 9090, "http-web", id, seed)]);
        let path = format!("/api/v1/namespaces/monitoring/services/{name}:9090/proxy/api/v1/query");
        world.pages.insert(path, Page::Prometheus(scraped));
    }
}

fn service(name: &str, namespace: &str, port: u16, port_name: &str, id: &str, seed: u64) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "uid": uid(&format!("{id}/{namespace}/{name}"), seed)},
        "spec": {"selector": {"app": name}, "ports": [{"name": port_name, "port": port, "targetPort": port}]},
    })
}

/// The devices of a node, with the pods that hold them, in the order of the pods.
fn devices(node: &NodePlan, pods: &[Value]) -> Vec<Device> {
    let mut devices: Vec<Device> = match node.card {
        Card::H100Mig => {
            let large = (0..4).flat_map(|card| (1..=2).map(move |at| (card, "3g.40gb", at)));
            let small = (4..8).flat_map(|card| (7..=13).map(move |at| (card, "1g.10gb", at)));
            large
                .chain(small)
                .map(|(index, profile, at)| Device { index, instance: Some((profile, at)), holder: None })
                .collect()
        }
        Card::None => Vec::new(),
        Card::L40s => (0..4).map(|index| Device { index, instance: None, holder: None }).collect(),
        Card::H100 | Card::Mi300x => {
            (0..8).map(|index| Device { index, instance: None, holder: None }).collect()
        }
    };
    for pod in pods.iter().filter(|pod| pod["spec"]["nodeName"] == node.name) {
        if matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
            continue;
        }
        let requests = &pod["spec"]["containers"][0]["resources"]["requests"];
        let named = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let holder = (named(&pod["metadata"]["namespace"]), named(&pod["metadata"]["name"]));
        for (resource, amount) in requests.as_object().into_iter().flatten() {
            let profile = resource.strip_prefix("nvidia.com/mig-");
            if profile.is_none() && !matches!(resource.as_str(), "nvidia.com/gpu" | "amd.com/gpu") {
                continue;
            }
            let wanted: usize = amount.as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
            let free = devices.iter_mut().filter(|device| {
                device.holder.is_none() && device.instance.map(|(profile, _)| profile) == profile
            });
            free.take(wanted).for_each(|device| device.holder = Some(holder.clone()));
        }
    }
    devices
}

/// How busy a holder keeps its cards, in percent: a notebook that somebody forgot does nothing, and neither does a pod
/// that keeps failing.
fn load(device: &Device, node: &str, seed: u64) -> f64 {
    let Some((namespace, pod)) = &device.holder else { return 0.0 };
    if namespace == "research" || pod.starts_with("reranker") || pod.starts_with("jupyter-1") {
        return 0.0;
    }
    let percent = spread(&format!("{node}/{pod}/{}", device.index), seed) % 38;
    62.0 + f64::from(u32::try_from(percent).unwrap_or(0))
}

fn series(node: &NodePlan, pods: &[Value], measured: Measured, seed: u64) -> Vec<Series> {
    let amd = measured == Measured::Amd;
    let mut all = Vec::new();
    for device in devices(node, pods) {
        let busy = load(&device, node.name, seed);
        let uuid = uid(&format!("{}/{}", node.name, device.index), seed);
        let mut labels: Vec<(String, String)> = if amd {
            vec![
                ("gpu_id".into(), device.index.to_string()),
                ("serial_number".into(), uuid[..12].to_owned()),
                ("card_model".into(), "MI300X-O".into()),
                ("gpu_partition_id".into(), "0".into()),
                ("hostname".into(), node.name.into()),
            ]
        } else {
            vec![
                ("gpu".into(), device.index.to_string()),
                ("UUID".into(), format!("GPU-{uuid}")),
                ("device".into(), format!("nvidia{}", device.index)),
                (
                    "modelName".into(),
                    if node.card == Card::L40s { "NVIDIA L40S" } else { "NVIDIA H100 80GB HBM3" }.into(),
                ),
                ("Hostname".into(), node.name.into()),
            ]
        };
        if let Some((profile, at)) = device.instance {
            labels.push(("GPU_I_PROFILE".into(), profile.into()));
            labels.push(("GPU_I_ID".into(), at.to_string()));
        }
        if let Some((namespace, pod)) = &device.holder {
            labels.push(("namespace".into(), namespace.clone()));
            labels.push(("pod".into(), pod.clone()));
        }
        let mut say = |metric: &'static str, value: f64| {
            all.push(Series { metric, labels: labels.clone(), value });
        };
        let held = device.holder.is_some();
        if amd {
            say("gpu_gfx_activity", busy);
            say("gpu_used_vram", if held { 96_000.0 + busy * 900.0 } else { 283.0 });
            say("gpu_total_vram", 196_592.0);
            say("gpu_package_power", 140.0 + busy * 5.8);
            say("gpu_junction_temperature", 38.0 + busy * 0.35);
            say("gpu_health", 1.0);
        } else {
            if device.instance.is_some() {
                say("DCGM_FI_PROF_GR_ENGINE_ACTIVE", busy / 100.0);
            } else {
                say("DCGM_FI_DEV_GPU_UTIL", busy);
            }
            let whole = match device.instance {
                Some(("3g.40gb", _)) => 40_320.0,
                Some(_) => 9_984.0,
                None => 81_559.0,
            };
            let used = if held { whole * (0.35 + busy * 0.006) } else { 4.0 };
            say("DCGM_FI_DEV_FB_USED", used.round());
            say("DCGM_FI_DEV_FB_FREE", (whole - used).round());
            say("DCGM_FI_DEV_POWER_USAGE", 72.0 + busy * 6.1);
            say("DCGM_FI_DEV_GPU_TEMP", (29.0 + busy * 0.38).round());
            let is_sick = node.unhealthy > 0 && device.index == 7;
            say("DCGM_FI_DEV_XID_ERRORS", if is_sick { 94.0 } else { 0.0 });
        }
    }
    all
}

/// As Prometheus keeps it without `honor_labels`: the workload's labels renamed, the scraped pod's own in their place.
fn as_scraped(series: &Series, exporter: &str, namespace: &str) -> Series {
    let mut labels: Vec<(String, String)> = series
        .labels
        .iter()
        .map(|(key, value)| match key.as_str() {
            "namespace" | "pod" => (format!("exported_{key}"), value.clone()),
            _ => (key.clone(), value.clone()),
        })
        .collect();
    labels.push(("namespace".into(), namespace.into()));
    labels.push(("pod".into(), format!("{exporter}-scraped")));
    Series { metric: series.metric, labels, value: series.value }
}

fn text(series: &[Series]) -> String {
    let mut out = String::new();
    let mut metrics: Vec<&str> = series.iter().map(|series| series.metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    for metric in metrics {
        out.push_str(&format!("# TYPE {metric} gauge\n"));
        for series in series.iter().filter(|series| series.metric == metric) {
            let labels: Vec<String> =
                series.labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
            out.push_str(&format!("{metric}{{{}}} {}\n", labels.join(","), series.value));
        }
    }
    out
}
