//! Everything that crosses to the web view, by screen. Plain data: names, numbers, states.
//!
//! Conventions: camelCase on the wire; an instant is an RFC 3339 string in UTC; `null` is "unknown", which is never 0;
//! a count fits in 53 bits.

pub mod cluster;
pub mod fleet;
pub mod namespace;
pub mod session;
pub mod staging;
pub mod usage;

use serde::Serialize;
use ts_rs::TS;

/// What the backend tells the UI unasked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase", tag = "type", content = "data")]
pub enum AppEvent {
    /// The session changed.
    Session(session::SessionView),
    /// Something on the fleet screen changed (at most 10 a second).
    Fleet(Box<fleet::FleetView>),
    /// The staged files changed (a drop, a choice, a discard).
    Staged(Vec<staging::StagedFile>),
    /// A registration went on.
    Register(staging::RegisterProgress),
    /// Files are dragged over the window: `true` on entering, `false` on leaving or dropping.
    Dragging(bool),
    /// A dropped file was a deployment and was imported, or was refused.
    Deployments(session::DeploymentList),
    /// Something happened that nobody asked for and the person should know.
    Notice(fleet::Note),
}
