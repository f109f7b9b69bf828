//! What may be read of a cluster: a closed set of kinds, and the paths they are at.
//!
//! Invariant: a path is built here from a kind and checked names, and nothing outside the crate can build one, so no
//! caller can make the client fetch a URL of its choosing. Secrets are not in the set.
//!
//! Deliberately absent: verbs that change anything.

use std::collections::BTreeMap;

use crate::registry::{Namespace, is_dns_subdomain};
use crate::usage::SourceId;

/// A served version of the `resource.k8s.io` group (dynamic resource allocation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DraVersion {
    /// Taint rules of devices before 1.37; nothing else is read in it.
    V1Alpha3,
    /// Kubernetes 1.32.
    V1Beta1,
    /// Kubernetes 1.33.
    V1Beta2,
    /// Kubernetes 1.34 and later.
    V1,
}

impl DraVersion {
    /// As it stands in a path.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1Alpha3 => "v1alpha3",
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
            Self::V1 => "v1",
        }
    }
}

/// A kind of object that Muster lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Nodes.
    Nodes,
    /// Namespaces.
    Namespaces,
    /// Pods.
    Pods,
    /// Services: those that measure accelerators are looked for among them.
    Services,
    /// Slices of devices that drivers publish.
    ResourceSlices(DraVersion),
    /// Claims of devices.
    ResourceClaims(DraVersion),
    /// Classes of devices.
    DeviceClasses(DraVersion),
    /// Taints of devices, which left alpha after the rest and so have a version of their own.
    DeviceTaintRules(DraVersion),
}

impl Resource {
    /// The `kind` of its list.
    pub fn list_kind(self) -> &'static str {
        match self {
            Self::Nodes => "NodeList",
            Self::Namespaces => "NamespaceList",
            Self::Pods => "PodList",
            Self::Services => "ServiceList",
            Self::ResourceSlices(_) => "ResourceSliceList",
            Self::ResourceClaims(_) => "ResourceClaimList",
            Self::DeviceClasses(_) => "DeviceClassList",
            Self::DeviceTaintRules(_) => "DeviceTaintRuleList",
        }
    }

    /// The plural of the path and of access reviews.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Namespaces => "namespaces",
            Self::Pods => "pods",
            Self::Services => "services",
            Self::ResourceSlices(_) => "resourceslices",
            Self::ResourceClaims(_) => "resourceclaims",
            Self::DeviceClasses(_) => "deviceclasses",
            Self::DeviceTaintRules(_) => "devicetaintrules",
        }
    }

    /// The API group; empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Nodes | Self::Namespaces | Self::Pods | Self::Services => "",
            _ => "resource.k8s.io",
        }
    }

    fn root(self) -> String {
        match self {
            Self::Nodes | Self::Namespaces | Self::Pods | Self::Services => "/api/v1".into(),
            Self::ResourceSlices(version)
            | Self::ResourceClaims(version)
            | Self::DeviceClasses(version)
            | Self::DeviceTaintRules(version) => format!("/apis/resource.k8s.io/{}", version.as_str()),
        }
    }
}

/// A pod, by names that are safe as segments of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodPath {
    namespace: Namespace,
    name: String,
}

impl PodPath {
    /// Checks the names; `None` where no pod can have them (RFC 1123: label, subdomain).
    pub(crate) fn parse(namespace: &str, name: &str) -> Option<Self> {
        let namespace = Namespace::parse(namespace)?;
        is_dns_subdomain(name).then(|| Self { namespace, name: name.to_owned() })
    }

    /// Name of the pod.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A path on an API server, built from checked parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePath {
    path: String,
    /// What a list is narrowed by, encoded.
    selector: Option<String>,
    expected: &'static str,
}

impl ResourcePath {
    /// Every object of a kind, over all namespaces where it has them.
    pub(crate) fn all(resource: Resource) -> Self {
        Self {
            path: format!("{}/{}", resource.root(), resource.plural()),
            selector: None,
            expected: resource.list_kind(),
        }
    }

    /// The pods of one namespace.
    pub(crate) fn pods_in(namespace: &Namespace) -> Self {
        Self::within(Resource::Pods, namespace)
    }

    /// The claims of devices in one namespace.
    pub(crate) fn claims_in(version: DraVersion, namespace: &Namespace) -> Self {
        Self::within(Resource::ResourceClaims(version), namespace)
    }

    fn within(resource: Resource, namespace: &Namespace) -> Self {
        let (root, plural) = (resource.root(), resource.plural());
        Self {
            path: format!("{root}/namespaces/{namespace}/{plural}"),
            selector: None,
            expected: resource.list_kind(),
        }
    }

    /// One namespace object.
    pub(crate) fn namespace(name: &Namespace) -> Self {
        Self { path: format!("/api/v1/namespaces/{name}"), selector: None, expected: "Namespace" }
    }

    /// The namespace `kube-system`, which every cluster has and whose UID stands for the cluster's.
    pub(crate) fn kube_system() -> Self {
        Self { path: "/api/v1/namespaces/kube-system".into(), selector: None, expected: "Namespace" }
    }

    /// The server's version.
    pub(crate) fn version() -> Self {
        Self { path: "/version".into(), selector: None, expected: "version" }
    }

    /// The versions of `resource.k8s.io` that the server serves.
    pub(crate) fn dra_group() -> Self {
        Self { path: "/apis/resource.k8s.io".into(), selector: None, expected: "APIGroup" }
    }

    /// Where access reviews are asked.
    pub(super) fn access_reviews() -> Self {
        Self {
            path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".into(),
            selector: None,
            expected: "SelfSubjectAccessReview",
        }
    }

    /// The pods of one namespace that carry all of these labels.
    pub(crate) fn pods_selected(namespace: &Namespace, labels: &BTreeMap<String, String>) -> Self {
        let equal: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mut selector = url::form_urlencoded::Serializer::new(String::new());
        selector.append_pair("labelSelector", &equal.join(","));
        Self { selector: Some(selector.finish()), ..Self::pods_in(namespace) }
    }

    /// One service object.
    pub(crate) fn service(namespace: &Namespace, name: &Namespace) -> Self {
        Self {
            path: format!("/api/v1/namespaces/{namespace}/services/{name}"),
            selector: None,
            expected: "Service",
        }
    }

    /// An instant query to a Prometheus, through the API server's proxy of services. What may be asked is up to
    /// [`crate::usage`], which makes the queries itself.
    pub(crate) fn prometheus_query(source: &SourceId, tls: bool, query: &str) -> Self {
        let SourceId { namespace, service, port } = source;
        let scheme = scheme(tls);
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let path = format!(
            "/api/v1/namespaces/{namespace}/services/{scheme}{service}:{port}/proxy/api/v1/query?query={query}"
        );
        Self { path, selector: None, expected: "an answer of Prometheus" }
    }

    /// The metrics of one pod, through the API server's proxy of pods.
    pub(crate) fn pod_metrics(pod: &PodPath, tls: bool, port: u16) -> Self {
        let PodPath { namespace, name } = pod;
        let scheme = scheme(tls);
        let path = format!("/api/v1/namespaces/{namespace}/pods/{scheme}{name}:{port}/proxy/metrics");
        Self { path, selector: None, expected: "metrics" }
    }

    /// What a list is narrowed by, encoded for a query.
    pub(crate) fn selector(&self) -> Option<&str> {
        self.selector.as_deref()
    }

    /// The path itself.
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// The `kind` that an answer from here has.
    pub fn expected_kind(&self) -> &'static str {
        self.expected
    }
}

/// How the proxy is told to speak TLS.
fn scheme(tls: bool) -> &'static str {
    if tls { "https:" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxied_path_leads_to_one_service_or_pod_and_one_page_of_it() {
        let source = SourceId::parse("monitoring/prometheus:9090").expect("a source");
        assert_eq!(
            ResourcePath::prometheus_query(&source, false, "max by (a) (b{c=\"d\"})&x=/../").as_str(),
            "/api/v1/namespaces/monitoring/services/prometheus:9090/proxy/api/v1/query?query=max+by+%28a%29+%28b%7Bc%3D%22d%22%7D%29%26x%3D%2F..%2F"
        );
        let pod = PodPath::parse("gpu-operator", "dcgm.exporter-x1").expect("a pod");
        assert_eq!(
            ResourcePath::pod_metrics(&pod, true, 9400).as_str(),
            "/api/v1/namespaces/gpu-operator/pods/https:dcgm.exporter-x1:9400/proxy/metrics"
        );
        for name in ["", "a/b", "..", "a:1", "a?b", "A", ".a", "a.", "a..b", "-a"] {
            assert_eq!(PodPath::parse("n", name), None, "{name:?}");
        }
    }

    #[test]
    fn paths_are_those_of_the_api_reference() {
        let team = Namespace::parse("team-a").expect("a label");
        assert_eq!(ResourcePath::pods_in(&team).as_str(), "/api/v1/namespaces/team-a/pods");
        assert_eq!(ResourcePath::namespace(&team).as_str(), "/api/v1/namespaces/team-a");
        assert_eq!(ResourcePath::all(Resource::Nodes).as_str(), "/api/v1/nodes");
        assert_eq!(
            ResourcePath::all(Resource::ResourceSlices(DraVersion::V1)).as_str(),
            "/apis/resource.k8s.io/v1/resourceslices"
        );
        assert_eq!(
            ResourcePath::claims_in(DraVersion::V1Beta2, &team).as_str(),
            "/apis/resource.k8s.io/v1beta2/namespaces/team-a/resourceclaims"
        );
    }
}
