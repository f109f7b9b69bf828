//! What may be read of a cluster: a closed set of kinds, and the paths they are at.
//!
//! Invariant: a path is built here from a kind and checked names, and nothing outside the crate can build one, so no
//! caller can make the client fetch a URL of its choosing. Secrets are not in the set.
//!
//! Deliberately absent: verbs that change anything.

use crate::registry::Namespace;

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
            Self::ResourceSlices(version)
            | Self::ResourceClaims(version)
            | Self::DeviceClasses(version)
            | Self::DeviceTaintRules(version) => format!("/apis/resource.k8s.io/{}", version.as_str()),
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
        Self { path: format!("{root}/namespaces/{namespace}/{plural}"), expected: resource.list_kind() }
    }

    /// One namespace object.
    pub(crate) fn namespace(name: &Namespace) -> Self {
        Self { path: format!("/api/v1/namespaces/{name}"), expected: "Namespace" }
    }

    /// The namespace `kube-system`, which every cluster has and whose UID stands for the cluster's.
    pub(crate) fn kube_system() -> Self {
        Self { path: "/api/v1/namespaces/kube-system".into(), expected: "Namespace" }
    }

    /// The server's version.
    pub(crate) fn version() -> Self {
        Self { path: "/version".into(), expected: "version" }
    }

    /// The versions of `resource.k8s.io` that the server serves.
    pub(crate) fn dra_group() -> Self {
        Self { path: "/apis/resource.k8s.io".into(), expected: "APIGroup" }
    }

    /// Where access reviews are asked.
    pub(super) fn access_reviews() -> Self {
        Self {
            path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".into(),
            expected: "SelfSubjectAccessReview",
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
