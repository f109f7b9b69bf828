//! Dynamic resource allocation (`resource.k8s.io`): which version the server serves, and its objects.
//!
//! A cluster without the API is the ordinary case, and an answer: [`Reading::Absent`]. Versions: v1 from Kubernetes 1.34,
//! v1beta2 from 1.33, v1beta1 from 1.32. Taint rules of devices are served as v1 from 1.37 and as v1alpha3 before.

use serde::Deserialize;

use super::list::{Listed, list_fold};
use super::parts::{Rows, fold_rows, limits, scoped};
use super::reading::{PerNamespace, Reading};
use crate::connect::{ClusterClient, DraVersion, ReadError, Resource, ResourcePath};
use crate::inventory::input::{DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice};
use crate::registry::NamespaceScope;

/// The objects of dynamic resource allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct DraReading {
    /// The version that was read, where the server serves one that Muster knows.
    pub version: Reading<DraVersion>,
    /// Slices of devices.
    pub slices: Reading<Listed<Vec<ResourceSlice>>>,
    /// Claims, per namespace.
    pub claims: PerNamespace<ResourceClaim>,
    /// Classes of devices.
    pub classes: Reading<Listed<Vec<DeviceClass>>>,
    /// Taint rules of devices.
    pub taint_rules: Reading<Listed<Vec<DeviceTaintRule>>>,
}

/// The versions that a server serves.
struct Served {
    best: Option<DraVersion>,
    taint_rules: Vec<DraVersion>,
}

#[derive(Deserialize)]
struct ApiGroup {
    #[serde(default)]
    versions: Option<Vec<GroupVersion>>,
}

#[derive(Deserialize)]
struct GroupVersion {
    #[serde(default)]
    version: String,
}

/// The versions that taint rules may be served in, the newest first.
const TAINT_RULE_VERSIONS: [DraVersion; 4] =
    [DraVersion::V1, DraVersion::V1Beta2, DraVersion::V1Beta1, DraVersion::V1Alpha3];

async fn served(client: &ClusterClient) -> Result<Served, ReadError> {
    let group: ApiGroup = client.get_json(&ResourcePath::dra_group()).await?;
    let versions: Vec<String> = group.versions.unwrap_or_default().into_iter().map(|v| v.version).collect();
    let has = |version: &DraVersion| versions.iter().any(|served| served == version.as_str());
    Ok(Served {
        best: [DraVersion::V1, DraVersion::V1Beta2, DraVersion::V1Beta1].into_iter().find(has),
        taint_rules: TAINT_RULE_VERSIONS.into_iter().filter(has).collect(),
    })
}

/// Reads what the scope may see: a bounded registration gets its claims only.
pub(super) async fn read(client: &ClusterClient, scope: &NamespaceScope) -> DraReading {
    let served = match Reading::of(served(client).await) {
        Reading::Ok(served) => served,
        other => return DraReading::without(&other.map(|_| ()), scope),
    };
    let Some(version) = served.best else { return DraReading::without(&Reading::Absent, scope) };
    let whole = matches!(scope, NamespaceScope::All);
    let (slices, claims, classes, taint_rules) = tokio::join!(
        across(client, whole, Resource::ResourceSlices(version)),
        scoped(client, scope, |namespace| match namespace {
            None => ResourcePath::all(Resource::ResourceClaims(version)),
            Some(namespace) => ResourcePath::claims_in(version, namespace),
        }),
        across(client, whole, Resource::DeviceClasses(version)),
        taint_rules(client, whole, &served.taint_rules),
    );
    DraReading { version: Reading::Ok(version), slices, claims, classes, taint_rules }
}

async fn across<Row: Rows>(
    client: &ClusterClient,
    whole: bool,
    resource: Resource,
) -> Reading<Listed<Vec<Row>>> {
    if !whole {
        return Reading::OutsideBound;
    }
    Reading::of(list_fold(client, &ResourcePath::all(resource), &limits(), fold_rows).await)
}

/// A version of the group need not have every kind, so the versions are tried until one has the rules.
async fn taint_rules(
    client: &ClusterClient,
    whole: bool,
    versions: &[DraVersion],
) -> Reading<Listed<Vec<DeviceTaintRule>>> {
    if !whole {
        return Reading::OutsideBound;
    }
    for &version in versions {
        match across(client, whole, Resource::DeviceTaintRules(version)).await {
            Reading::Absent => {}
            found => return found,
        }
    }
    Reading::Absent
}

impl DraReading {
    /// Where the group itself could not be read, nothing of it can.
    fn without(why: &Reading<()>, scope: &NamespaceScope) -> Self {
        fn same<T>(why: &Reading<()>) -> Reading<T> {
            match why {
                // Only a group that was read is `Ok`, and then this is not reached.
                Reading::Ok(()) | Reading::Absent => Reading::Absent,
                Reading::OutsideBound => Reading::OutsideBound,
                Reading::Forbidden { message } => Reading::Forbidden { message: message.clone() },
                Reading::Failed(error) => Reading::Failed(error.clone()),
            }
        }
        fn across<T>(why: &Reading<()>, scope: &NamespaceScope) -> Reading<T> {
            match scope {
                NamespaceScope::All => same(why),
                NamespaceScope::Each(_) => Reading::OutsideBound,
            }
        }
        let namespaces = match scope {
            NamespaceScope::All => vec![None],
            NamespaceScope::Each(names) => names.iter().cloned().map(Some).collect(),
        };
        Self {
            version: same(why),
            slices: across(why, scope),
            claims: PerNamespace::gather(namespaces.into_iter().map(|name| (name, same(why))).collect()),
            classes: across(why, scope),
            taint_rules: across(why, scope),
        }
    }
}
