//! What may be read of a cluster: a closed set of kinds, and the paths they are at.
//!
//! Invariant: a path is built here from a kind and checked names, and nothing outside the crate can build one, so no
//! caller can make the client fetch a URL of its choosing. Secrets are not in the set.
//!
//! Deliberately absent: verbs that change anything.

use super::ReadError;
use crate::kubeconfig::printable;

/// A served version of the `resource.k8s.io` group (dynamic resource allocation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DraVersion {
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
    /// Slices of devices that drivers publish.
    ResourceSlices(DraVersion),
    /// Claims of devices.
    ResourceClaims(DraVersion),
    /// Classes of devices.
    DeviceClasses(DraVersion),
    /// Taints of devices, which left alpha after the rest and keep their own version.
    DeviceTaintRules(&'static str),
}

impl Resource {
    /// The `kind` of its list.
    pub fn list_kind(self) -> &'static str {
        match self {
            Self::Nodes => "NodeList",
            Self::Namespaces => "NamespaceList",
            Self::Pods => "PodList",
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
            Self::ResourceSlices(_) => "resourceslices",
            Self::ResourceClaims(_) => "resourceclaims",
            Self::DeviceClasses(_) => "deviceclasses",
            Self::DeviceTaintRules(_) => "devicetaintrules",
        }
    }

    /// Whether its objects live in namespaces.
    pub fn is_namespaced(self) -> bool {
        matches!(self, Self::Pods | Self::ResourceClaims(_))
    }

    /// The API group; empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Nodes | Self::Namespaces | Self::Pods => "",
            _ => "resource.k8s.io",
        }
    }

    fn root(self) -> String {
        match self {
            Self::Nodes | Self::Namespaces | Self::Pods => "/api/v1".into(),
            Self::ResourceSlices(version) | Self::ResourceClaims(version) | Self::DeviceClasses(version) => {
                format!("/apis/resource.k8s.io/{}", version.as_str())
            }
            Self::DeviceTaintRules(version) => format!("/apis/resource.k8s.io/{version}"),
        }
    }
}

/// A path on an API server, built from checked parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePath {
    path: String,
    expected: &'static str,
}

impl ResourcePath {
    /// Every object of a kind, over all namespaces where it has them.
    pub(crate) fn all(resource: Resource) -> Self {
        Self { path: format!("{}/{}", resource.root(), resource.plural()), expected: resource.list_kind() }
    }

    /// The objects of a namespaced kind in one namespace.
    ///
    /// # Errors
    /// [`ReadError::BadName`] where the namespace is not a DNS label (RFC 1123), or the kind has no namespaces.
    pub(crate) fn in_namespace(resource: Resource, namespace: &str) -> Result<Self, ReadError> {
        if !resource.is_namespaced() || !is_dns_label(namespace) {
            return Err(ReadError::BadName { what: "a namespace", name: printable(namespace) });
        }
        let (root, plural) = (resource.root(), resource.plural());
        Ok(Self { path: format!("{root}/namespaces/{namespace}/{plural}"), expected: resource.list_kind() })
    }

    /// One namespace object.
    ///
    /// # Errors
    /// [`ReadError::BadName`] where the name is not a DNS label (RFC 1123).
    pub(crate) fn namespace(name: &str) -> Result<Self, ReadError> {
        if !is_dns_label(name) {
            return Err(ReadError::BadName { what: "a namespace", name: printable(name) });
        }
        Ok(Self { path: format!("/api/v1/namespaces/{name}"), expected: "Namespace" })
    }

    /// The server's version.
    pub(crate) fn version() -> Self {
        Self { path: "/version".into(), expected: "version" }
    }

    /// The versions of `resource.k8s.io` that the server serves.
    pub(crate) fn dra_group() -> Self {
        Self { path: "/apis/resource.k8s.io".into(), expected: "APIGroup" }
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

/// RFC 1123: 1-63 of a-z, 0-9 and '-', not starting or ending with '-'.
fn is_dns_label(name: &str) -> bool {
    let inner = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    (1..=63).contains(&name.len()) && inner && !name.starts_with('-') && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_that_would_leave_its_path_segment_is_refused() {
        for name in ["", "..", ".", "a/b", "a?b", "a%2fb", "A", "-a", "a-", "a b", "a\n", &"a".repeat(64)] {
            let error = ResourcePath::in_namespace(Resource::Pods, name).expect_err(name);
            assert_eq!(error.code(), "bad_name", "{name:?} must not become a path segment");
            assert!(ResourcePath::namespace(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn nodes_have_no_namespaced_path() {
        assert!(ResourcePath::in_namespace(Resource::Nodes, "default").is_err());
    }

    #[test]
    fn paths_are_those_of_the_api_reference() {
        let pods = ResourcePath::in_namespace(Resource::Pods, "team-a").expect("a label");
        assert_eq!(pods.as_str(), "/api/v1/namespaces/team-a/pods");
        assert_eq!(ResourcePath::all(Resource::Nodes).as_str(), "/api/v1/nodes");
        assert_eq!(
            ResourcePath::all(Resource::ResourceSlices(DraVersion::V1)).as_str(),
            "/apis/resource.k8s.io/v1/resourceslices"
        );
    }
}
