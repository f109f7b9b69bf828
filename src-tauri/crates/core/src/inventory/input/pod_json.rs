//! How a [`Pod`] is read from the JSON of the API.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::lenient::{Faults, Keep, Lenient, Table, objects};
use super::pod::{Owner, Phase, Pod, Scheduling, Sharing};
use super::table::{ExtendedNames, Labels, Resources};
use crate::inventory::name::Name;
use crate::inventory::quantity::Count;
use crate::inventory::requests::{self, Container};

const GROUP_LABEL: &str = "runai-gpu-group";
const HAMI_ALLOCATION: &str = "hami.io/vgpu-devices-allocated";

struct GroupLabels;

impl Keep for GroupLabels {
    fn keep(key: &str) -> bool {
        key.starts_with(GROUP_LABEL)
    }
}

struct SharingAnnotations;

impl Keep for SharingAnnotations {
    fn keep(key: &str) -> bool {
        matches!(key, "gpu-fraction" | "gpu-memory" | "received-resource-type" | HAMI_ALLOCATION)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WirePod {
    metadata: Lenient<WireMeta>,
    spec: Lenient<WireSpec>,
    status: Lenient<WireStatus>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireMeta {
    name: Lenient<Name>,
    namespace: Lenient<Name>,
    labels: Lenient<Table<GroupLabels, Box<str>>>,
    annotations: Lenient<Table<SharingAnnotations, Box<str>>>,
    owner_references: Lenient<Vec<WireOwner>>,
    creation_timestamp: Lenient<Box<str>>,
    deletion_timestamp: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireOwner {
    kind: Lenient<Name>,
    name: Lenient<Name>,
    controller: Lenient<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireSpec {
    node_name: Lenient<Name>,
    priority: Lenient<i64>,
    containers: Lenient<Vec<WireContainer>>,
    init_containers: Lenient<Vec<WireContainer>>,
    overhead: Lenient<Table<ExtendedNames, Count>>,
    resource_claims: Lenient<Vec<WireClaimRef>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireContainer {
    name: Lenient<Box<str>>,
    restart_policy: Lenient<Box<str>>,
    resources: Lenient<WireResources>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireResources {
    requests: Lenient<Table<ExtendedNames, Count>>,
    limits: Lenient<Table<ExtendedNames, Count>>,
}

/// An entry of `spec.resourceClaims` or of `status.resourceClaimStatuses`: both may name a claim.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireClaimRef {
    resource_claim_name: Lenient<Name>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireStatus {
    phase: Lenient<Box<str>>,
    reason: Lenient<Box<str>>,
    start_time: Lenient<Box<str>>,
    conditions: Lenient<Vec<WireCondition>>,
    container_statuses: Lenient<Vec<WireContainerStatus>>,
    init_container_statuses: Lenient<Vec<WireContainerStatus>>,
    resource_claim_statuses: Lenient<Vec<WireClaimRef>>,
    extended_resource_claim_status: Lenient<WireExtendedClaim>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireCondition {
    r#type: Lenient<Box<str>>,
    status: Lenient<Box<str>>,
    reason: Lenient<Box<str>>,
    message: Lenient<Box<str>>,
    last_transition_time: Lenient<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireContainerStatus {
    allocated_resources_status: Lenient<Vec<WireResourceStatus>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireResourceStatus {
    resources: Lenient<Vec<WireResourceHealth>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireResourceHealth {
    #[serde(rename = "resourceID")]
    resource_id: Lenient<Box<str>>,
    health: Lenient<Box<str>>,
}

/// `status.extendedResourceClaimStatus` (KEP-5004): which requests the scheduler turned into a claim.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireExtendedClaim {
    resource_claim_name: Lenient<Name>,
    request_mappings: Lenient<Vec<WireMapping>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireMapping {
    container_name: Lenient<Box<str>>,
    resource_name: Lenient<Box<str>>,
}

objects!(
    WirePod,
    WireMeta,
    WireOwner,
    WireSpec,
    WireContainer,
    WireResources,
    WireClaimRef,
    WireStatus,
    WireCondition,
    WireContainerStatus,
    WireResourceStatus,
    WireResourceHealth,
    WireExtendedClaim,
    WireMapping,
);

impl<'de> Deserialize<'de> for Pod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Lenient::<WirePod>::deserialize(deserializer).map(Self::from_wire)
    }
}

impl Pod {
    fn from_wire(wire: Lenient<WirePod>) -> Self {
        let mut faults = Faults::default();
        let wire = wire.take_object("item", &mut faults);
        let meta = wire.metadata.take("metadata", &mut faults).unwrap_or_default();
        let spec = wire.spec.take("spec", &mut faults).unwrap_or_default();
        let status = wire.status.take("status", &mut faults).unwrap_or_default();

        let extended = status.extended_resource_claim_status.read().unwrap_or_default();
        let backed: Vec<(Box<str>, Box<str>)> = extended
            .request_mappings
            .read()
            .unwrap_or_default()
            .into_iter()
            .filter_map(|mapping| mapping.container_name.read().zip(mapping.resource_name.read()))
            .collect();
        let mains = containers(spec.containers.take("spec.containers", &mut faults), &backed);
        let init = containers(spec.init_containers.take("spec.initContainers", &mut faults), &backed);
        let overhead = spec.overhead.take("spec.overhead", &mut faults).map(Resources::from_table);
        let claims = spec
            .resource_claims
            .take("spec.resourceClaims", &mut faults)
            .into_iter()
            .chain(status.resource_claim_statuses.read())
            .flatten()
            .filter_map(|reference| reference.resource_claim_name.read())
            .chain(extended.resource_claim_name.read());

        Self {
            name: meta.name.take("metadata.name", &mut faults).unwrap_or_default(),
            namespace: meta.namespace.take("metadata.namespace", &mut faults).unwrap_or_default(),
            node: spec.node_name.take("spec.nodeName", &mut faults).filter(|node| !node.is_empty()),
            phase: phase(status.phase.read().as_deref()),
            priority: spec.priority.read().and_then(|priority| i32::try_from(priority).ok()),
            since: time(status.start_time).or_else(|| time(meta.creation_timestamp)),
            terminating: meta.deletion_timestamp.read().is_some(),
            rejected: status.reason.read().as_deref() == Some("UnexpectedAdmissionError"),
            owner: meta.owner_references.read().and_then(controller),
            requests: requests::effective(&mains, &init, &overhead.unwrap_or_default()),
            claims: claims.collect(),
            scheduling: status.conditions.read().and_then(unscheduled).map(Box::new),
            sharing: sharing(meta.labels, meta.annotations).map(Box::new),
            unhealthy_devices: unhealthy(status.container_statuses, status.init_container_statuses),
            faults,
        }
    }
}

fn containers(wire: Option<Vec<WireContainer>>, backed: &[(Box<str>, Box<str>)]) -> Vec<Container> {
    wire.unwrap_or_default().into_iter().map(|container| container.into_container(backed)).collect()
}

impl WireContainer {
    fn into_container(self, backed: &[(Box<str>, Box<str>)]) -> Container {
        let name = self.name.read().unwrap_or_default();
        let resources = self.resources.read().unwrap_or_default();
        let asked = requests::of_container(
            resources.requests.read().map(Resources::from_table).unwrap_or_default(),
            resources.limits.read().map(Resources::from_table).unwrap_or_default(),
        );
        let is_backed = |resource: &Name| backed.iter().any(|(c, r)| *c == name && **r == **resource);
        Container {
            sidecar: self.restart_policy.read().as_deref() == Some("Always"),
            requests: asked
                .iter()
                .filter(|(resource, _)| !is_backed(resource))
                .map(|(resource, count)| (resource.clone(), count))
                .collect(),
        }
    }
}

fn phase(text: Option<&str>) -> Phase {
    match text {
        Some("Pending") => Phase::Pending,
        Some("Running") => Phase::Running,
        Some("Succeeded") => Phase::Succeeded,
        Some("Failed") => Phase::Failed,
        _ => Phase::Unknown,
    }
}

fn time(text: Lenient<Box<str>>) -> Option<Timestamp> {
    text.read()?.parse().ok()
}

fn controller(owners: Vec<WireOwner>) -> Option<Owner> {
    let owner = owners.into_iter().find(|owner| owner.controller == Lenient::Read(true))?;
    Some(Owner { kind: owner.kind.read()?, name: owner.name.read()? })
}

fn unscheduled(conditions: Vec<WireCondition>) -> Option<Scheduling> {
    let condition = conditions
        .into_iter()
        .filter(|condition| condition.r#type == Lenient::Read("PodScheduled".into()))
        .find(|condition| condition.status != Lenient::Read("True".into()))?;
    Some(Scheduling {
        reason: condition.reason.read(),
        message: condition.message.read(),
        since: time(condition.last_transition_time),
    })
}

fn sharing(
    labels: Lenient<Table<GroupLabels, Box<str>>>,
    annotations: Lenient<Table<SharingAnnotations, Box<str>>>,
) -> Option<Sharing> {
    let labels = labels.read().map(Labels::from_table).unwrap_or_default();
    let annotations = annotations.read().map(Labels::from_table).unwrap_or_default();
    let groups: Box<[Name]> = labels
        .iter()
        .filter_map(|(key, value)| match key.strip_prefix(GROUP_LABEL)? {
            "" => Some(value.into()),
            // One label per card when a pod shares several: `runai-gpu-group/<group>`.
            more => more.strip_prefix('/').map(Name::from),
        })
        .collect();
    let fraction = annotations.get("gpu-fraction").map(Name::from);
    let memory_mib = annotations.get("gpu-memory").and_then(|memory| memory.parse().ok());
    let allocation = annotations.get(HAMI_ALLOCATION).map(Box::from);
    let sharer = fraction.is_some()
        || memory_mib.is_some()
        || annotations.get("received-resource-type") == Some("Fraction");
    (sharer || allocation.is_some() || !groups.is_empty()).then_some(Sharing {
        groups,
        sharer,
        fraction,
        memory_mib,
        allocation,
    })
}

fn unhealthy(
    containers: Lenient<Vec<WireContainerStatus>>,
    init: Lenient<Vec<WireContainerStatus>>,
) -> Box<[Box<str>]> {
    containers
        .read()
        .into_iter()
        .chain(init.read())
        .flatten()
        .flat_map(|container| container.allocated_resources_status.read().unwrap_or_default())
        .flat_map(|status| status.resources.read().unwrap_or_default())
        .filter(|resource| resource.health == Lenient::Read("Unhealthy".into()))
        .filter_map(|resource| resource.resource_id.read())
        .collect()
}
