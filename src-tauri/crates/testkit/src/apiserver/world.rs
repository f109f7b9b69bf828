//! The objects of one cluster, by kind, as JSON.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Page;

/// A kind that the server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Plural, as in paths.
    pub plural: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

const fn kind(
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    namespaced: bool,
) -> Kind {
    Kind { group, version, plural, kind, namespaced }
}

/// Every kind.
pub const KINDS: [Kind; 17] = [
    kind("", "v1", "nodes", "Node", false),
    kind("", "v1", "namespaces", "Namespace", false),
    kind("", "v1", "pods", "Pod", true),
    kind("", "v1", "events", "Event", true),
    kind("", "v1", "services", "Service", true),
    kind("", "v1", "configmaps", "ConfigMap", true),
    kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true),
    kind("", "v1", "persistentvolumes", "PersistentVolume", false),
    kind("apps", "v1", "deployments", "Deployment", true),
    kind("apps", "v1", "statefulsets", "StatefulSet", true),
    kind("apps", "v1", "daemonsets", "DaemonSet", true),
    kind("apps", "v1", "replicasets", "ReplicaSet", true),
    kind("batch", "v1", "jobs", "Job", true),
    kind("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", false),
    kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true),
    kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", false),
    kind("resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule", false),
];

/// Looks a kind up by its place in a path.
pub fn find(group: &str, version: &str, plural: &str) -> Option<Kind> {
    KINDS.into_iter().find(|k| k.group == group && k.version == version && k.plural == plural)
}

/// The objects of a cluster.
#[derive(Debug, Default, Clone)]
pub struct World {
    objects: BTreeMap<(&'static str, &'static str), Vec<Value>>,
    /// Groups that this cluster does not serve (404), as an older release would not.
    pub without: Vec<&'static str>,
    /// What services and pods serve through the proxy, by path.
    pub pages: BTreeMap<String, Page>,
}

impl World {
    /// Adds objects of a kind.
    ///
    /// # Panics
    /// Where no such kind is served: a fault of the scenario's.
    pub fn add(&mut self, plural: &str, objects: impl IntoIterator<Item = Value>) {
        let Some(kind) = KINDS.into_iter().find(|kind| kind.plural == plural) else {
            panic!("the demo serves no {plural}")
        };
        self.objects.entry((kind.group, kind.plural)).or_default().extend(objects);
    }

    /// The objects of a kind, sorted as a server lists them.
    pub fn list(&self, kind: Kind) -> &[Value] {
        self.objects.get(&(kind.group, kind.plural)).map_or(&[], Vec::as_slice)
    }

    /// The objects of a kind, to change.
    pub fn list_mut(&mut self, plural: &str) -> Option<&mut Vec<Value>> {
        let kind = KINDS.into_iter().find(|kind| kind.plural == plural)?;
        self.objects.get_mut(&(kind.group, kind.plural))
    }

    /// Sorts every kind by namespace and name.
    pub fn sort(&mut self) {
        for list in self.objects.values_mut() {
            list.sort_by_key(|object| (text(object, "namespace"), text(object, "name")));
        }
    }
}

/// A text of an object's metadata.
pub fn text(object: &Value, field: &str) -> String {
    object["metadata"][field].as_str().unwrap_or_default().to_owned()
}
