//! kubectl's rules as a table: each row is a pod that people meet, with the words that kubectl prints for it.

use serde_json::{Value, json};

use super::*;
use crate::views::pod_wire::Pod;

fn printed(pod: &Value) -> Printed {
    let text = pod.to_string();
    let wire: Pod<'_> = serde_json::from_str(&text).expect("a pod");
    let terminating = wire.metadata.deletion_timestamp.is_some();
    print(&wire.spec.unwrap_or_default(), &wire.status.unwrap_or_default(), terminating)
}

fn running(name: &str) -> Value {
    json!({"name": name, "ready": true, "started": true, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}})
}

fn waiting(name: &str, reason: &str, restarts: u32) -> Value {
    json!({"name": name, "ready": false, "restartCount": restarts, "state": {"waiting": {"reason": reason}}})
}

fn ended(name: &str, reason: &str, code: i64) -> Value {
    json!({"name": name, "ready": false, "restartCount": 0, "state": {"terminated": {"reason": reason, "exitCode": code}}})
}

struct Case {
    name: &'static str,
    init: Value,
    containers: usize,
    status: Value,
    deleted: bool,
    wanted: (&'static str, &'static str, u32, Health),
}

fn case(
    name: &'static str,
    containers: usize,
    status: Value,
    wanted: (&'static str, &'static str, u32, Health),
) -> Case {
    Case { name, init: json!([]), containers, status, deleted: false, wanted }
}

impl Case {
    fn init(mut self, init: Value) -> Self {
        self.init = init;
        self
    }

    fn deleted(mut self) -> Self {
        self.deleted = true;
        self
    }

    fn check(self) {
        let main: Vec<Value> = (0..self.containers).map(|n| json!({"name": format!("c{n}")})).collect();
        let mut metadata = json!({"name": "p"});
        if self.deleted {
            metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        let pod = json!({
            "metadata": metadata,
            "spec": {"containers": main, "initContainers": self.init},
            "status": self.status,
        });
        let printed = printed(&pod);
        let ready = format!("{}/{}", printed.ready, printed.containers);
        let found = (printed.status.as_str(), ready.as_str(), printed.restarts, Health::of(&printed));
        assert_eq!(found, self.wanted, "{}", self.name);
    }
}

use Health::{Bad, Done, Good, Waiting};

#[test]
fn ordinary_pods_are_printed_as_kubectl_prints_them() {
    let phase = |phase: &str, containers: Value| json!({"phase": phase, "containerStatuses": containers});
    for case in [
        case(
            "running",
            2,
            phase("Running", json!([running("c0"), running("c1")])),
            ("Running", "2/2", 0, Good),
        ),
        case("not scheduled yet", 1, json!({"phase": "Pending"}), ("Pending", "0/1", 0, Waiting)),
        case(
            "pulling",
            1,
            phase("Pending", json!([waiting("c0", "ContainerCreating", 0)])),
            ("ContainerCreating", "0/1", 0, Waiting),
        ),
        case(
            "cannot pull",
            1,
            phase("Pending", json!([waiting("c0", "ImagePullBackOff", 0)])),
            ("ImagePullBackOff", "0/1", 0, Bad),
        ),
        case(
            "crash loop",
            2,
            phase("Running", json!([waiting("c0", "CrashLoopBackOff", 7), running("c1")])),
            ("CrashLoopBackOff", "1/2", 7, Bad),
        ),
        case(
            "the first container with a reason names the state",
            2,
            phase(
                "Running",
                json!([waiting("c0", "ImagePullBackOff", 0), waiting("c1", "CrashLoopBackOff", 3)]),
            ),
            ("ImagePullBackOff", "0/2", 3, Bad),
        ),
        case(
            "out of memory",
            1,
            phase("Running", json!([ended("c0", "OOMKilled", 137)])),
            ("OOMKilled", "0/1", 0, Bad),
        ),
        case("error", 1, phase("Failed", json!([ended("c0", "Error", 1)])), ("Error", "0/1", 0, Bad)),
        case(
            "no reason, a code",
            1,
            phase("Failed", json!([{"name": "c0", "state": {"terminated": {"exitCode": 3}}}])),
            ("ExitCode:3", "0/1", 0, Bad),
        ),
        case(
            "no reason, a signal",
            1,
            phase("Failed", json!([{"name": "c0", "state": {"terminated": {"exitCode": 137, "signal": 9}}}])),
            ("Signal:9", "0/1", 0, Bad),
        ),
        case(
            "a finished job",
            1,
            phase("Succeeded", json!([ended("c0", "Completed", 0)])),
            ("Completed", "0/1", 0, Done),
        ),
        case("evicted", 1, json!({"phase": "Failed", "reason": "Evicted"}), ("Evicted", "0/1", 0, Bad)),
        case(
            "rejected by the kubelet",
            1,
            json!({"phase": "Failed", "reason": "UnexpectedAdmissionError"}),
            ("UnexpectedAdmissionError", "0/1", 0, Bad),
        ),
        case(
            "running, a probe fails",
            1,
            phase("Running", json!([{"name": "c0", "ready": false, "state": {"running": {}}}])),
            ("Running", "0/1", 0, Waiting),
        ),
        case("nothing known", 0, json!({}), ("Unknown", "0/0", 0, Bad)),
    ] {
        case.check();
    }
}

#[test]
fn a_gated_pod_says_so() {
    let status = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]});
    case("gated", 1, status, ("SchedulingGated", "0/1", 0, Waiting)).check();
}

#[test]
fn one_container_ended_well_while_another_runs() {
    let both = json!([ended("c0", "Completed", 0), running("c1")]);
    let with = |ready: &str| json!({"phase": "Running", "containerStatuses": both, "conditions": [{"type": "Ready", "status": ready}]});
    case("still ready", 2, with("True"), ("Running", "1/2", 0, Waiting)).check();
    case("no longer ready", 2, with("False"), ("NotReady", "1/2", 0, Waiting)).check();
}

#[test]
fn a_deleted_pod_terminates_unless_it_has_ended_or_its_node_is_lost() {
    let running_pod = json!({"phase": "Running", "containerStatuses": [running("c0")]});
    case("deleted", 1, running_pod, ("Terminating", "1/1", 0, Waiting)).deleted().check();
    let lost = json!({"phase": "Running", "reason": "NodeLost", "containerStatuses": [running("c0")]});
    case("on a lost node", 1, lost, ("Unknown", "1/1", 0, Bad)).deleted().check();
    let done = json!({"phase": "Succeeded", "containerStatuses": [ended("c0", "Completed", 0)]});
    case("already ended", 1, done, ("Completed", "0/1", 0, Done)).deleted().check();
}

#[test]
fn init_containers_are_told_by_their_position() {
    let init = |statuses: Value| json!({"phase": "Pending", "initContainerStatuses": statuses});
    let two = || json!([{"name": "i0"}, {"name": "i1"}]);
    let mut restarted = ended("i0", "Error", 1);
    restarted["restartCount"] = json!(4);
    for (name, statuses, wanted) in [
        ("first waits", json!([waiting("i0", "PodInitializing", 0)]), ("Init:0/2", "0/1", 0, Waiting)),
        ("first runs", json!([running("i0")]), ("Init:0/2", "0/1", 0, Waiting)),
        (
            "first done, second runs",
            json!([ended("i0", "Completed", 0), running("i1")]),
            ("Init:1/2", "0/1", 0, Waiting),
        ),
        ("first failed", json!([restarted]), ("Init:Error", "0/1", 4, Bad)),
        (
            "first failed without a reason",
            json!([{"name": "i0", "state": {"terminated": {"exitCode": 2}}}]),
            ("Init:ExitCode:2", "0/1", 0, Bad),
        ),
        (
            "first killed",
            json!([{"name": "i0", "state": {"terminated": {"exitCode": 137, "signal": 9}}}]),
            ("Init:Signal:9", "0/1", 0, Bad),
        ),
        (
            "second in a crash loop",
            json!([ended("i0", "Completed", 0), waiting("i1", "CrashLoopBackOff", 5)]),
            ("Init:CrashLoopBackOff", "0/1", 5, Bad),
        ),
    ] {
        case(name, 1, init(statuses), wanted).init(two()).check();
    }
}

#[test]
fn after_initialisation_only_the_main_containers_restarts_count() {
    let mut once = ended("i0", "Completed", 0);
    once["restartCount"] = json!(9);
    let mut main = running("c0");
    main["restartCount"] = json!(2);
    let status = json!({"phase": "Running", "initContainerStatuses": [once], "containerStatuses": [main]});
    case("initialised", 1, status, ("Running", "1/1", 2, Good)).init(json!([{"name": "i0"}])).check();
}

#[test]
fn sidecars_count_as_containers_and_keep_their_restarts() {
    let sidecar = json!([{"name": "i0", "restartPolicy": "Always"}, {"name": "i1"}]);
    let mut up = running("i0");
    up["restartCount"] = json!(3);
    let status = json!({"phase": "Running", "initContainerStatuses": [up.clone(), ended("i1", "Completed", 0)], "containerStatuses": [running("c0")]});
    case("sidecar runs", 1, status, ("Running", "2/2", 3, Good)).init(sidecar.clone()).check();
    let early = json!({"phase": "Pending", "initContainerStatuses": [up, running("i1")]});
    case("sidecar up, init goes on", 1, early, ("Init:1/2", "1/2", 3, Waiting)).init(sidecar.clone()).check();
    let starting = json!({"phase": "Pending", "initContainerStatuses": [{"name": "i0", "started": false, "state": {"running": {}}}]});
    case("sidecar starts", 1, starting, ("Init:0/2", "0/2", 0, Waiting)).init(sidecar).check();
}

#[test]
fn a_restarting_sidecar_of_an_initialised_pod_does_not_hide_the_main_containers() {
    let status = json!({
        "phase": "Running",
        "conditions": [{"type": "Initialized", "status": "True"}],
        "initContainerStatuses": [waiting("i0", "CrashLoopBackOff", 6)],
        "containerStatuses": [running("c0")],
    });
    let sidecar = json!([{"name": "i0", "restartPolicy": "Always"}]);
    case("sidecar crashes later", 1, status, ("Init:CrashLoopBackOff", "1/2", 6, Bad)).init(sidecar).check();
}

#[test]
fn the_last_restart_is_the_latest_end_of_an_earlier_run() {
    let restarted = |name: &str, at: &str| {
        let mut status = running(name);
        status["restartCount"] = json!(1);
        status["lastState"] = json!({"terminated": {"exitCode": 1, "finishedAt": at}});
        status
    };
    let printed = printed(&json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}]},
        "status": {"phase": "Running", "containerStatuses": [
            restarted("a", "2026-03-01T10:00:00Z"), restarted("b", "2026-03-01T09:00:00Z"),
        ]},
    }));
    assert_eq!(printed.last_restart.map(|t| t.to_string()).as_deref(), Some("2026-03-01T10:00:00Z"));
    assert_eq!(printed.restarts, 2);
}
