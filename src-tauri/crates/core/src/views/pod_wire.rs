//! The parts of a pod's JSON that a row is made from. A container's environment is not among them, so it is skipped
//! while parsing and never held.

use serde::Deserialize;

use super::text::{Text, filled, sentence};

#[derive(Deserialize)]
pub struct Pod<'a> {
    #[serde(borrow)]
    pub metadata: Metadata<'a>,
    #[serde(borrow, default)]
    pub spec: Option<Spec<'a>>,
    #[serde(borrow, default)]
    pub status: Option<Status<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub namespace: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub creation_timestamp: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub deletion_timestamp: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub owner_references: Option<Vec<Owner<'a>>>,
}

#[derive(Deserialize)]
pub struct Owner<'a> {
    #[serde(borrow, default)]
    pub kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub controller: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec<'a> {
    #[serde(borrow)]
    pub node_name: Option<Text<'a>>,
    #[serde(borrow)]
    containers: Option<Vec<Container<'a>>>,
    #[serde(borrow)]
    init_containers: Option<Vec<Container<'a>>>,
}

impl<'a> Spec<'a> {
    pub fn containers(&self) -> &[Container<'a>] {
        self.containers.as_deref().unwrap_or_default()
    }

    pub fn init_containers(&self) -> &[Container<'a>] {
        self.init_containers.as_deref().unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Container<'a> {
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub image: Option<Text<'a>>,
    #[serde(borrow, default)]
    restart_policy: Option<Text<'a>>,
}

impl Container<'_> {
    /// An init container that keeps running beside the others (KEP-753).
    pub fn is_sidecar(&self) -> bool {
        filled(&self.restart_policy) == Some("Always")
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Status<'a> {
    #[serde(borrow)]
    pub phase: Option<Text<'a>>,
    #[serde(borrow)]
    pub reason: Option<Text<'a>>,
    #[serde(borrow)]
    pub message: Option<Text<'a>>,
    #[serde(borrow, rename = "podIP")]
    pub pod_ip: Option<Text<'a>>,
    #[serde(borrow)]
    conditions: Option<Vec<Condition<'a>>>,
    #[serde(borrow)]
    container_statuses: Option<Vec<ContainerStatus<'a>>>,
    #[serde(borrow)]
    init_container_statuses: Option<Vec<ContainerStatus<'a>>>,
}

impl<'a> Status<'a> {
    pub fn conditions(&self) -> &[Condition<'a>] {
        self.conditions.as_deref().unwrap_or_default()
    }

    pub fn container_statuses(&self) -> &[ContainerStatus<'a>] {
        self.container_statuses.as_deref().unwrap_or_default()
    }

    pub fn init_statuses(&self) -> &[ContainerStatus<'a>] {
        self.init_container_statuses.as_deref().unwrap_or_default()
    }

    /// Whether a condition is true.
    pub fn has_condition(&self, kind: &str) -> bool {
        let is_it = |c: &&Condition<'_>| filled(&c.kind) == Some(kind);
        self.conditions().iter().find(is_it).is_some_and(|c| filled(&c.status) == Some("True"))
    }
}

#[derive(Deserialize)]
pub struct Condition<'a> {
    #[serde(borrow, rename = "type", default)]
    pub kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub status: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerStatus<'a> {
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(default)]
    pub ready: Option<bool>,
    #[serde(default)]
    pub started: Option<bool>,
    #[serde(default)]
    restart_count: Option<i64>,
    #[serde(borrow, default)]
    state: Option<ContainerState<'a>>,
    #[serde(borrow, default)]
    last_state: Option<ContainerState<'a>>,
}

impl<'a> ContainerStatus<'a> {
    pub fn restart_count(&self) -> u32 {
        self.restart_count.map_or(0, |count| u32::try_from(count.max(0)).unwrap_or(u32::MAX))
    }

    pub fn state(&self) -> &ContainerState<'a> {
        const NONE: &ContainerState<'static> =
            &ContainerState { waiting: None, running: None, terminated: None };
        self.state.as_ref().unwrap_or(NONE)
    }

    /// When the run before this one ended.
    pub fn last_finished(&self) -> Option<&Option<Text<'a>>> {
        self.last_state.as_ref().and_then(|last| last.terminated.as_ref()).map(|ended| &ended.finished_at)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ContainerState<'a> {
    #[serde(borrow)]
    pub waiting: Option<Waiting<'a>>,
    pub running: Option<Running>,
    #[serde(borrow)]
    pub terminated: Option<Terminated<'a>>,
}

impl ContainerState<'_> {
    /// What the kubelet says about it.
    pub fn message(&self) -> Option<Box<str>> {
        let waiting = self.waiting.as_ref().and_then(|waiting| filled(&waiting.message));
        let ended = || self.terminated.as_ref().and_then(|ended| filled(&ended.message));
        waiting.or_else(ended).and_then(|message| sentence(message, 300))
    }
}

/// That it runs; since when is of no interest.
#[derive(Deserialize)]
pub struct Running {}

#[derive(Deserialize)]
pub struct Waiting<'a> {
    #[serde(borrow, default)]
    pub reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terminated<'a> {
    #[serde(borrow, default)]
    pub reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Text<'a>>,
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    signal: Option<i64>,
    #[serde(borrow, default)]
    pub finished_at: Option<Text<'a>>,
}

impl Terminated<'_> {
    pub fn exit_code(&self) -> i64 {
        self.exit_code.unwrap_or(0)
    }

    pub fn signal(&self) -> i64 {
        self.signal.unwrap_or(0)
    }
}
