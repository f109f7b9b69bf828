//! What kubectl prints under READY, STATUS and RESTARTS, by its own rules.
//!
//! Source: `printPod` in Kubernetes' `pkg/printers/internalversion/printers.go` (1.34). People read these words every
//! day, so the words here are the same ones, odd corners included: an init container counts by its position among
//! the statuses, a sidecar's restarts stay, and the *first* container with a reason names the pod's state.

use jiff::Timestamp;

use super::pod_wire::{ContainerState, ContainerStatus, Spec, Status};
use super::text::{filled, instant};

/// The printed columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    pub status: String,
    pub ready: u32,
    pub containers: u32,
    pub restarts: u32,
    pub last_restart: Option<Timestamp>,
    /// The message of the container that named the state.
    pub message: Option<Box<str>>,
}

/// Counts restarts the way kubectl does.
#[derive(Default, Clone, Copy)]
struct Restarts {
    count: u32,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, container: &ContainerStatus<'_>) {
        self.count = self.count.saturating_add(container.restart_count());
        let finished = container.last_finished().and_then(instant);
        self.last = self.last.max(finished);
    }
}

/// Prints a pod. `terminating` is whether a deletion timestamp is set.
pub fn print(spec: &Spec<'_>, status: &Status<'_>, terminating: bool) -> Printed {
    let phase = filled(&status.phase).unwrap_or_default();
    let mut printed = Printed {
        status: filled(&status.reason).unwrap_or(phase).to_owned(),
        ready: 0,
        containers: count(
            spec.containers().len() + spec.init_containers().iter().filter(|c| c.is_sidecar()).count(),
        ),
        restarts: 0,
        last_restart: None,
        message: None,
    };
    let gated = |condition: &super::pod_wire::Condition<'_>| {
        filled(&condition.kind) == Some("PodScheduled")
            && filled(&condition.reason) == Some("SchedulingGated")
    };
    if status.conditions().iter().any(gated) {
        printed.status = "SchedulingGated".into();
    }
    let (initializing, sidecars) = init_containers(spec, status, &mut printed);
    if !initializing || status.has_condition("Initialized") {
        main_containers(status, sidecars, &mut printed);
    }
    if printed.status.is_empty() {
        // Where kubectl prints nothing at all, a person would look for a fault of the screen.
        printed.status = "Unknown".into();
    }
    if terminating && filled(&status.reason) == Some("NodeLost") {
        printed.status = "Unknown".into();
    } else if terminating && !matches!(phase, "Succeeded" | "Failed") {
        printed.status = "Terminating".into();
    }
    printed
}

/// Walks the init containers up to the first that is not done. Returns whether one holds the pod back, and the restarts
/// of the sidecars.
fn init_containers(spec: &Spec<'_>, status: &Status<'_>, printed: &mut Printed) -> (bool, Restarts) {
    let mut all = Restarts::default();
    let mut sidecars = Restarts::default();
    let mut initializing = false;
    for (position, container) in status.init_statuses().iter().enumerate() {
        all.add(container);
        let is_sidecar = spec.init_containers().iter().any(|c| c.is_sidecar() && c.name == container.name);
        if is_sidecar {
            sidecars.add(container);
        }
        let state = container.state();
        if state.terminated.as_ref().is_some_and(|ended| ended.exit_code() == 0) {
            continue;
        }
        if is_sidecar && container.started == Some(true) {
            printed.ready += u32::from(container.ready == Some(true));
            continue;
        }
        let waits_for = state.waiting.as_ref().and_then(|waiting| filled(&waiting.reason));
        let why = match (&state.terminated, waits_for) {
            (Some(_), _) => ended_why(state, "Init:").unwrap_or_default(),
            (None, Some(reason)) if reason != "PodInitializing" => format!("Init:{reason}"),
            _ => format!("Init:{position}/{}", spec.init_containers().len()),
        };
        printed.status = why;
        printed.message = state.message();
        initializing = true;
        break;
    }
    printed.restarts = all.count;
    printed.last_restart = all.last;
    (initializing, sidecars)
}

fn main_containers(status: &Status<'_>, sidecars: Restarts, printed: &mut Printed) {
    let mut restarts = sidecars;
    let mut has_running = false;
    // From the last to the first, each overwriting: so the first with a reason wins.
    for container in status.container_statuses().iter().rev() {
        restarts.add(container);
        let state = container.state();
        if let Some(reason) = state.waiting.as_ref().and_then(|waiting| filled(&waiting.reason)) {
            printed.status = reason.to_owned();
            printed.message = state.message();
        } else if let Some(why) = ended_why(state, "") {
            printed.status = why;
            printed.message = state.message();
        } else if container.ready == Some(true) && state.running.is_some() {
            has_running = true;
            printed.ready += 1;
        }
    }
    printed.restarts = restarts.count;
    printed.last_restart = restarts.last;
    if printed.status == "Completed" && has_running {
        printed.status = if status.has_condition("Ready") { "Running" } else { "NotReady" }.into();
        printed.message = None;
    }
}

fn ended_why(state: &ContainerState<'_>, prefix: &str) -> Option<String> {
    let ended = state.terminated.as_ref()?;
    Some(match (filled(&ended.reason), ended.signal()) {
        (Some(reason), _) => format!("{prefix}{reason}"),
        (None, 0) => format!("{prefix}ExitCode:{}", ended.exit_code()),
        (None, signal) => format!("{prefix}Signal:{signal}"),
    })
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// How a status is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// Running, with every container ready.
    Good,
    /// On the way, or waiting for something.
    Waiting,
    /// Something is wrong.
    Bad,
    /// Ended as it should.
    Done,
}

impl Health {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Waiting => "waiting",
            Self::Bad => "bad",
            Self::Done => "done",
        }
    }

    /// Judges a printed status. Words that are not known are bad: whoever invents one has something to say.
    pub fn of(printed: &Printed) -> Self {
        match printed.status.as_str() {
            "Running" if printed.ready == printed.containers => Self::Good,
            "Running" | "NotReady" | "Pending" | "ContainerCreating" | "PodInitializing"
            | "SchedulingGated" | "Terminating" => Self::Waiting,
            "Succeeded" | "Completed" => Self::Done,
            init if is_init_progress(init) => Self::Waiting,
            _ => Self::Bad,
        }
    }
}

/// `Init:1/3`, but not `Init:Error`.
fn is_init_progress(status: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    status
        .strip_prefix("Init:")
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(done, of)| digits(done) && digits(of))
}

#[cfg(test)]
#[path = "pod_status_tests.rs"]
mod tests;
