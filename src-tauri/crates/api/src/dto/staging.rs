//! Registering: dropped files, the verdict on each context, the preview, the progress.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::fleet::{ModelCount, Note, ScopeView, UnitCounts};

/// Why a context or a file is refused, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefusalView {
    /// Stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub way_out: String,
    /// A command that helps, to copy.
    pub command: Option<String>,
}

/// One context of a staged file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StagedContext {
    /// Its name in the file.
    pub name: String,
    /// Whether it is the file's current-context.
    pub current: bool,
    /// A name for the registration that passes the name rule.
    pub suggested_name: String,
    /// API server as `host:port`.
    pub endpoint: Option<String>,
    /// Namespace the context names.
    pub namespace: Option<String>,
    /// `token`, `client certificate`, ...
    pub credential: Option<String>,
    /// When the credential expires.
    pub expires_at: Option<String>,
    /// Provider, where the file tells.
    pub provider: Option<String>,
    /// A registered cluster of the same name: registering again replaces its credential.
    pub registered_as: Option<String>,
    /// Every reason to refuse it; empty where it may be registered.
    pub refusals: Vec<RefusalView>,
    /// What the person should know.
    pub warnings: Vec<Note>,
}

/// One dropped, chosen or pasted file. Its contents stay in the backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StagedFile {
    /// Id of the staging.
    pub id: String,
    /// The file's name without its folder, or `clipboard`.
    pub file_name: String,
    /// Size in bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Why the file as a whole is refused.
    pub refusal: Option<RefusalView>,
    /// Its contexts.
    pub contexts: Vec<StagedContext>,
}

/// Names a staged file.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StagedRequest {
    /// Id of the staging.
    pub id: String,
}

/// Asks the cluster, without sealing anything.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProbeRequest {
    /// Id of the staging.
    pub id: String,
    /// The context's name.
    pub context: String,
    /// What would be registered.
    pub scope: ScopeView,
}

/// What the credential may do, as the cluster itself answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// What, for people (`list nodes`).
    pub what: String,
    /// Whether it may; `null` where the cluster did not say.
    pub allowed: Option<bool>,
    /// What Muster shows with it.
    pub enables: String,
}

/// What a registration would show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProbePreview {
    /// Kubernetes version.
    pub version: String,
    /// How long the cluster took to answer, in milliseconds.
    #[ts(type = "number")]
    pub took_ms: u64,
    /// Nodes.
    #[ts(type = "number | null")]
    pub nodes: Option<u32>,
    /// Sum over accelerators.
    pub units: UnitCounts,
    /// By model.
    pub models: Vec<ModelCount>,
    /// What the credential may do.
    pub permissions: Vec<Permission>,
    /// What the person should know.
    pub notes: Vec<Note>,
}

/// Seals the credential and adds the cluster to the org's registry.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegisterRequest {
    /// Id of the staging.
    pub id: String,
    /// The context's name.
    pub context: String,
    /// Name of the registration.
    pub name: String,
    /// Provider; empty for the default.
    pub provider: String,
    /// What it may address. The whole cluster is chosen, never typed into being.
    pub scope: ScopeView,
    /// Whether it becomes the org's default.
    pub default: bool,
}

/// How far a registration has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum RegisterStep {
    /// Checking the file once more.
    Checking,
    /// Asking the cluster.
    Probing,
    /// Sealing the credential in the KMS.
    Sealing,
    /// Adding the row to the org's index.
    Indexing,
    /// Done.
    Done,
}

/// Progress of one registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegisterProgress {
    /// Id of the staging.
    pub id: String,
    /// The context's name.
    pub context: String,
    /// The step under way.
    pub step: RegisterStep,
}
