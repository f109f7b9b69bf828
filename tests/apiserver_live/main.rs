//! Registering, reading and refusing against a real kube-apiserver with RBAC: the demo's servers are ours, this one is
//! Kubernetes' own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod server;

use std::sync::Arc;

use muster_core::clock::SystemClock;
use muster_core::connect::{Dialer, ReadError};
use muster_core::endpoint::EndpointPolicy;
use muster_core::fleet::observe;
use muster_core::kms::memory::MemoryStore;
use muster_core::kubeconfig;
use muster_core::reads::{NamespacesReading, Reading, read_namespaces, read_nodes, read_pods};
use muster_core::registry::{
    ClusterName, NamespaceBound, Refusal, Registration, Registry, RegistryError, SystemEntropy,
};
use muster_core::tenant::{Org, Tenant};
use server::Server;

struct Desk {
    registry: Registry,
    tenant: Tenant,
}

impl Desk {
    fn new() -> Self {
        let org = Org::parse("orchard").unwrap();
        let kms = MemoryStore::new().session(&org);
        let dialer = Dialer::new(EndpointPolicy::Any);
        let registry = Registry::new(kms, dialer, Arc::new(SystemClock), Arc::new(SystemEntropy));
        Self { registry, tenant: Tenant::for_tests(org, "ada") }
    }

    async fn register(&self, name: &str, text: &str, bound: NamespaceBound) -> Result<(), RegistryError> {
        let now = jiff::Timestamp::now();
        let inspection = kubeconfig::inspect(text.as_bytes(), EndpointPolicy::Any, now).unwrap();
        let context = inspection.contexts()[0].key.clone();
        let registration = Registration {
            name: ClusterName::parse(name).unwrap(),
            kubeconfig: inspection.cut(&context, now).unwrap(),
            provider: String::new(),
            bound,
            default: false,
        };
        self.registry.register(&self.tenant, &registration, &|_| ()).await.map(|_| ())
    }
}

fn two_teams() -> NamespaceBound {
    NamespaceBound::only(["team-a", "team-b"]).unwrap()
}

/// One server for every case: it takes seconds to come up, and each case registers under a name of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_main_job_holds_on_a_real_api_server() {
    let Some(mut server) = tokio::task::spawn_blocking(Server::start).await.unwrap() else { return };
    let desk = Desk::new();
    an_admin_registers_and_sees_every_card(&desk, &server).await;
    a_bounded_registration_is_proven_by_its_own_namespaces(&desk, &server).await;
    a_namespace_outside_the_bound_is_refused_before_anything_is_dialled(&desk).await;
    a_credential_without_nodes_cannot_register_the_whole_cluster(&desk, &server).await;
    a_wrong_token_is_not_accepted(&desk, &server).await;
    absent_forbidden_and_empty_are_three_answers(&desk).await;
    server.stop();
    a_server_that_is_gone_is_unreachable(&desk).await;
}

async fn an_admin_registers_and_sees_every_card(desk: &Desk, server: &Server) {
    desk.register("real", &server.ready.admin_kubeconfig, NamespaceBound::WholeCluster).await.unwrap();
    let record = desk.registry.get(&desk.tenant, "real").await.unwrap();
    let counts = record.counts.unwrap();
    assert_eq!((counts.nodes, counts.nvidia_gpu, counts.amd_gpu), (4, 32, 0));
    let bound = desk.registry.reach(&desk.tenant, "real").await.unwrap();
    let reading = observe(&bound, &SystemClock).await;
    assert_eq!(reading.version.as_deref(), Some(server.ready.version.as_str()));
    let units = &reading.inventory.totals.by_resource["nvidia.com/gpu"];
    assert_eq!(
        (units.capacity, units.allocatable, units.requested, units.free, units.usable_free),
        (Some(32), Some(32), Some(8), Some(24), Some(16)),
        "two pods hold four cards each, and the cordoned node's eight are free but not usable"
    );
    assert_eq!(reading.inventory.totals.physical_by_vendor["nvidia"], Some(32));
    let waiting = reading.inventory.waiting.unwrap();
    assert_eq!(waiting.len(), 1, "one pod waits");
    assert!(waiting[0].message.as_ref().unwrap().contains("Insufficient nvidia.com/gpu"));
    assert_eq!(reading.pods, Some(4));
}

async fn a_bounded_registration_is_proven_by_its_own_namespaces(desk: &Desk, server: &Server) {
    desk.register("teams", &server.ready.scoped_kubeconfig, two_teams()).await.unwrap();
    let record = desk.registry.get(&desk.tenant, "teams").await.unwrap();
    assert_eq!(record.counts, None, "node counts are unknown, which is not zero");
    let bound = desk.registry.reach(&desk.tenant, "teams").await.unwrap();
    let pods = read_pods(&bound, "").await.unwrap();
    let names: Vec<&str> = pods.rows.iter().map(|pod| &*pod.name).collect();
    assert_eq!(names, ["trainer-0", "trainer-1", "waiter"]);
    assert_eq!(pods.rows[0].status.as_ref(), "Running");
    assert_eq!(pods.rows[2].status.as_ref(), "Pending");
    let text = format!("{pods:?}");
    assert!(!text.contains("never-shown"), "a container's environment is not read");
    let outside = desk
        .register("too-wide", &server.ready.scoped_kubeconfig, NamespaceBound::only(["team-c"]).unwrap())
        .await;
    assert!(
        matches!(outside, Err(RegistryError::Cluster { failure: ReadError::Forbidden { .. }, .. })),
        "{outside:?}"
    );
}

async fn a_namespace_outside_the_bound_is_refused_before_anything_is_dialled(desk: &Desk) {
    let bound = desk.registry.reach(&desk.tenant, "teams").await.unwrap();
    assert!(matches!(read_nodes(&bound).await, Err(Refusal::Scope { .. })));
    assert!(matches!(read_pods(&bound, "team-c").await, Err(Refusal::Namespace { .. })));
    let reading = observe(&bound, &SystemClock).await;
    assert!(matches!(reading.nodes, Reading::OutsideBound));
}

async fn a_credential_without_nodes_cannot_register_the_whole_cluster(desk: &Desk, server: &Server) {
    let refused =
        desk.register("nodeless", &server.ready.nodeless_kubeconfig, NamespaceBound::WholeCluster).await;
    let Err(RegistryError::Cluster { failure: ReadError::Forbidden { message, .. }, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(message.contains("nodes is forbidden"), "the server's own words are shown: {message}");
    assert!(desk.registry.get(&desk.tenant, "nodeless").await.is_err(), "nothing was registered");
}

async fn a_wrong_token_is_not_accepted(desk: &Desk, server: &Server) {
    let text = &server.ready.scoped_kubeconfig;
    let at = text.find("token: ").unwrap() + "token: ".len();
    let end = at + text[at..].find('\n').unwrap();
    let wrong = format!("{}not-a-token{}", &text[..at], &text[end..]);
    let refused = desk.register("wrong", &wrong, two_teams()).await;
    assert!(
        matches!(refused, Err(RegistryError::Cluster { failure: ReadError::Unauthorized { .. }, .. })),
        "{refused:?}"
    );
}

async fn absent_forbidden_and_empty_are_three_answers(desk: &Desk) {
    let whole = desk.registry.reach(&desk.tenant, "real").await.unwrap();
    let empty = read_pods(&whole, "default").await.unwrap();
    assert!(empty.is_complete() && empty.rows.is_empty(), "an empty namespace is read and empty");
    let NamespacesReading::WholeCluster(Reading::Ok(list)) = read_namespaces(&whole).await else {
        panic!("not read")
    };
    assert!(list.rows.iter().any(|namespace| &*namespace.name == "team-c"));
    let teams = desk.registry.reach(&desk.tenant, "teams").await.unwrap();
    let NamespacesReading::Bounded(names) = read_namespaces(&teams).await else { panic!("not bounded") };
    assert!(names.iter().all(|(_, outcome)| matches!(outcome, Reading::Forbidden { .. })));
    let none = desk.registry.reach(&desk.tenant, "never-registered").await.map(|_| ());
    assert!(matches!(none, Err(RegistryError::Refused(Refusal::NoCluster { .. }))));
}

async fn a_server_that_is_gone_is_unreachable(desk: &Desk) {
    let bound = desk.registry.reach(&desk.tenant, "real").await.unwrap();
    let reading = observe(&bound, &SystemClock).await;
    let failure = reading.failure().expect("nothing could be read");
    assert!(matches!(failure, ReadError::Connect(_) | ReadError::Broken { .. }), "{failure:?}");
    assert_eq!(reading.pods, None, "unreachable is not empty");
}
