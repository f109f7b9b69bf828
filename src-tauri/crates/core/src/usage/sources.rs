//! Which services of a cluster serve measurements of accelerators.
//!
//! Invariant: only what this table knows by name and port is ever asked, so that the way through the API server's proxy
//! leads to no other service.
//!
//! OpenShift's own Prometheus is deliberately absent: it wants a token of its own, which the proxy does not pass on.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::registry::Namespace;

/// What serves the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// Prometheus or what answers its queries: one answer for all nodes, with a memory.
    Prometheus,
    /// NVIDIA's DCGM exporter: one pod a node, this moment only.
    Dcgm,
    /// AMD's device metrics exporter: likewise.
    Amd,
}

impl SourceKind {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prometheus => "prometheus",
            Self::Dcgm => "dcgm-exporter",
            Self::Amd => "amd-exporter",
        }
    }
}

/// How a service is known: by the end of its name, as charts put a release's name before it, and by its port.
struct Known {
    kind: SourceKind,
    name: &'static str,
    ports: &'static [u16],
}

const fn known(kind: SourceKind, name: &'static str, ports: &'static [u16]) -> Known {
    Known { kind, name, ports }
}

/// From the charts and operators: kube-prometheus-stack, prometheus, prometheus-operator, kube-prometheus, Thanos,
/// gpu-operator, dcgm-exporter, AKS' managed GPU nodes, AMD's gpu-operator and device-metrics-exporter.
const KNOWN: [Known; 14] = [
    known(SourceKind::Prometheus, "kube-prometheus-stack-prometheus", &[9090]),
    known(SourceKind::Prometheus, "kube-prometheus-prometheus", &[9090]),
    known(SourceKind::Prometheus, "kube-prome-prometheus", &[9090]),
    known(SourceKind::Prometheus, "prometheus-server", &[80, 9090]),
    known(SourceKind::Prometheus, "prometheus-k8s", &[9090]),
    known(SourceKind::Prometheus, "prometheus-operated", &[9090]),
    known(SourceKind::Prometheus, "prometheus", &[9090]),
    known(SourceKind::Prometheus, "thanos-query", &[9090]),
    known(SourceKind::Prometheus, "thanos-query-frontend", &[9090]),
    known(SourceKind::Dcgm, "dcgm-exporter", &[9400, 19400]),
    known(SourceKind::Dcgm, "dcgm-exporter-service", &[9400, 19400]),
    known(SourceKind::Amd, "device-metrics-exporter", &[5000]),
    known(SourceKind::Amd, "amdgpu-metrics-exporter", &[5000]),
    known(SourceKind::Amd, "metrics-exporter", &[5000]),
];

/// A source, by what names it: `namespace/service:port`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId {
    /// Namespace of the service.
    pub namespace: Namespace,
    /// Name of the service (RFC 1035 label, which is a label of RFC 1123 too).
    pub service: Namespace,
    /// Port of the service.
    pub port: u16,
}

impl SourceId {
    /// Reads `namespace/service:port`; `None` for everything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (namespace, rest) = text.split_once('/')?;
        let (service, port) = rest.split_once(':')?;
        let label = |text: &str| Namespace::parse(text).filter(|label| label.as_str() == text);
        let number: u16 = port.parse().ok().filter(|number| *number > 0)?;
        // One spelling for one source.
        (number.to_string() == port).then_some(())?;
        Some(Self { namespace: label(namespace)?, service: label(service)?, port: number })
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.namespace, self.service, self.port)
    }
}

/// A service that serves measurements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseSource {
    /// Its name.
    pub id: SourceId,
    /// What it is.
    pub kind: SourceKind,
    /// Whether it speaks TLS, by the name of its port.
    pub tls: bool,
    /// Labels of the pods behind it. An exporter without them cannot be read node by node.
    pub selector: BTreeMap<String, String>,
    /// The port's number on the pods, where the service names it; else it has to be looked up there.
    pub pod_port: PodPort,
}

/// A service's target port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodPort {
    /// A number.
    Number(u16),
    /// The name of a container's port.
    Name(String),
}

/// A Service object, as far as it is looked at.
#[derive(Debug, Deserialize)]
pub struct Service {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: String,
}

#[derive(Debug, Default, Deserialize)]
struct Spec {
    #[serde(default)]
    selector: Option<BTreeMap<String, String>>,
    #[serde(default)]
    ports: Option<Vec<Port>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    protocol: Option<String>,
    port: u16,
    #[serde(default)]
    target_port: Option<TargetPort>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TargetPort {
    Number(u16),
    Name(String),
}

/// The sources that a service is: none for nearly every service.
pub fn sources_of(service: Service) -> Vec<UseSource> {
    let Service { metadata, spec } = service;
    let (Some(namespace), Some(name)) =
        (Namespace::parse(&metadata.namespace), Namespace::parse(&metadata.name))
    else {
        return Vec::new();
    };
    let is = |known: &Known| {
        name.as_str() == known.name
            || name.as_str().strip_suffix(known.name).is_some_and(|release| release.ends_with('-'))
    };
    let wants_a_token = namespace.as_str().starts_with("openshift-");
    let mut found: Vec<UseSource> = Vec::new();
    for port in spec.ports.unwrap_or_default() {
        let known = KNOWN.iter().find(|known| is(known) && known.ports.contains(&port.port));
        let (Some(known), false) = (known, wants_a_token) else { continue };
        if port.protocol.as_deref().is_some_and(|protocol| protocol != "TCP") {
            continue;
        }
        found.push(UseSource {
            id: SourceId { namespace: namespace.clone(), service: name.clone(), port: port.port },
            kind: known.kind,
            tls: port.name.as_deref().is_some_and(|name| name.contains("https")),
            selector: spec.selector.clone().unwrap_or_default(),
            pod_port: match port.target_port {
                Some(TargetPort::Number(number)) => PodPort::Number(number),
                Some(TargetPort::Name(name)) => PodPort::Name(name),
                None => PodPort::Number(port.port),
            },
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: serde_json::Value) -> Vec<(String, SourceKind)> {
        let service = serde_json::from_value(value).expect("a service");
        sources_of(service).into_iter().map(|source| (source.id.to_string(), source.kind)).collect()
    }

    #[test]
    fn services_of_the_usual_charts_are_known_under_any_release_name() {
        for (namespace, name, port, kind) in [
            ("monitoring", "kube-prometheus-stack-prometheus", 9090, SourceKind::Prometheus),
            ("monitoring", "mon-kube-prometheus-stack-prometheus", 9090, SourceKind::Prometheus),
            ("monitoring", "prometheus-operated", 9090, SourceKind::Prometheus),
            ("prometheus", "prometheus-server", 80, SourceKind::Prometheus),
            ("gpu-operator", "nvidia-dcgm-exporter", 9400, SourceKind::Dcgm),
            ("kube-amd-gpu", "default-metrics-exporter", 5000, SourceKind::Amd),
        ] {
            let service = json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": [{"port": port}]}});
            assert_eq!(of(service), [(format!("{namespace}/{name}:{port}"), kind)]);
        }
    }

    #[test]
    fn other_services_other_ports_and_openshifts_own_are_not_asked() {
        for (namespace, name, port) in [
            ("monitoring", "grafana", 9090),
            ("monitoring", "prometheus-operated", 10901),
            ("monitoring", "notprometheus", 9090),
            ("openshift-monitoring", "prometheus-k8s", 9090),
            ("a/b", "prometheus", 9090),
        ] {
            let service = json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": [{"port": port}]}});
            assert_eq!(of(service), [], "{namespace}/{name}:{port}");
        }
        assert_eq!(
            of(
                json!({"metadata": {"name": "prometheus", "namespace": "m"}, "spec": {"ports": null, "selector": null}})
            ),
            []
        );
    }

    #[test]
    fn a_source_is_named_in_one_way_only() {
        let id = SourceId::parse("monitoring/prometheus:9090").expect("a source");
        assert_eq!(id.to_string(), "monitoring/prometheus:9090");
        for text in [
            "",
            "prometheus:9090",
            "m/p",
            "m/p:0",
            "m/p:99999",
            "m/p:09090",
            "m/../x:9090",
            "m/p:9090/proxy",
            "../p:1",
            "m/https:p:443",
            "M/p:1",
            "m/p :1",
            "m/p?x:1",
        ] {
            assert_eq!(SourceId::parse(text), None, "{text:?}");
        }
    }
}
