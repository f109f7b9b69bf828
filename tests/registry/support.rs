//! An org, its KMS, and clusters that answer as told.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use muster_core::clock::Clock;
use muster_core::connect::{ConnectError, ReadError};
use muster_core::endpoint::EndpointPolicy;
use muster_core::kms::SecretRef;
use muster_core::kms::memory::{MemoryKms, MemoryStore, Pause};
use muster_core::kubeconfig::{SafeKubeconfig, inspect};
use muster_core::registry::{
    Cluster, ClusterName, Connect, CountedPage, Counts, Entropy, Namespace, NamespaceBound, Record,
    RegisterStep, Registration, Registry, RegistryError,
};
use muster_core::tenant::{Org, Tenant};

/// A clock that stands until it is moved.
#[derive(Clone, Default)]
pub struct HandClock(Arc<AtomicI64>);

impl HandClock {
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// Numbers that look random and are the same in every run (SplitMix64).
pub struct Seeded(AtomicU64);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Entropy for Seeded {
    fn next(&self) -> u64 {
        let mut z =
            self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[derive(Default)]
struct Wire {
    /// Tokens of the kubeconfigs that clients were made from.
    dialled: Vec<String>,
    /// Everything that was asked of a cluster.
    asked: Vec<String>,
    /// Servers that fail, and how.
    failures: HashMap<String, ReadError>,
    /// Where making a client waits.
    pause: Option<Arc<Pause>>,
}

/// The network, as told.
#[derive(Clone, Default)]
pub struct Net(Arc<Mutex<Wire>>);

impl Net {
    pub fn dialled(&self) -> Vec<String> {
        self.0.lock().unwrap().dialled.clone()
    }

    pub fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().asked.clone()
    }

    pub fn fail(&self, server: &str, failure: ReadError) {
        self.0.lock().unwrap().failures.insert(server.to_owned(), failure);
    }

    /// The next client that is made waits.
    pub fn pause_next(&self, pause: &Arc<Pause>) {
        self.0.lock().unwrap().pause = Some(Arc::clone(pause));
    }

    fn ask(&self, server: &str, what: &str) -> Result<(), ReadError> {
        let mut wire = self.0.lock().unwrap();
        wire.asked.push(format!("{server} {what}"));
        wire.failures.get(server).map_or(Ok(()), |failure| Err(failure.clone()))
    }
}

#[derive(Clone)]
pub struct FakeCluster {
    server: String,
    net: Net,
}

#[async_trait]
impl Connect for Net {
    type Client = FakeCluster;

    fn policy(&self) -> EndpointPolicy {
        EndpointPolicy::Private
    }

    async fn client(&self, kubeconfig: &SafeKubeconfig) -> Result<FakeCluster, ConnectError> {
        let pause = {
            let mut wire = self.0.lock().unwrap();
            let token = kubeconfig
                .text()
                .split("token: ")
                .nth(1)
                .unwrap()
                .lines()
                .next()
                .unwrap()
                .trim()
                .trim_matches(['\'', '"'])
                .to_owned();
            wire.dialled.push(token);
            wire.pause.take()
        };
        if let Some(pause) = pause {
            pause.hold().await;
        }
        Ok(FakeCluster { server: kubeconfig.endpoint(), net: self.clone() })
    }
}

#[async_trait]
impl Cluster for FakeCluster {
    fn server(&self) -> String {
        self.server.clone()
    }

    async fn git_version(&self) -> Result<String, ReadError> {
        self.net.ask(&self.server, "version").map(|()| "v1.36.2".to_owned())
    }

    async fn count_page(&self, _after: Option<&str>) -> Result<CountedPage, ReadError> {
        self.net.ask(&self.server, "nodes")?;
        Ok(CountedPage { counts: Counts { nodes: 3, nvidia_gpu: 16, amd_gpu: 8 }, next: None })
    }

    async fn prove_pods(&self, namespace: &Namespace) -> Result<(), ReadError> {
        self.net.ask(&self.server, &format!("pods in {namespace}"))
    }
}

pub fn org(name: &str) -> Org {
    Org::parse(name).unwrap()
}

pub fn name(name: &str) -> ClusterName {
    ClusterName::parse(name).unwrap()
}

/// A kubeconfig with this token, for `https://<host>.example.com:6443`.
pub fn kubeconfig_text(host: &str, token: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\n\
         clusters: [{{name: c, cluster: {{server: 'https://{host}.example.com:6443'}}}}]\n\
         users: [{{name: u, user: {{token: '{token}'}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
    )
}

pub fn kubeconfig(host: &str, token: &str) -> SafeKubeconfig {
    let now = HandClock::default().now();
    inspect(kubeconfig_text(host, token).as_bytes(), EndpointPolicy::Private, now)
        .unwrap()
        .cut("x", now)
        .unwrap()
}

/// A registration of the whole cluster `<cluster>.example.com` with this token.
pub fn registration(cluster: &str, token: &str) -> Registration {
    Registration {
        name: name(cluster),
        kubeconfig: kubeconfig(cluster, token),
        provider: String::new(),
        bound: NamespaceBound::WholeCluster,
        default: false,
    }
}

/// The same, bounded to namespaces.
pub fn bounded(cluster: &str, token: &str, namespaces: &[&str]) -> Registration {
    Registration { bound: NamespaceBound::only(namespaces).unwrap(), ..registration(cluster, token) }
}

/// One person at one desktop.
pub struct Desk {
    pub registry: Arc<Registry<Net>>,
    pub kms: Arc<MemoryKms>,
    pub net: Net,
    pub clock: HandClock,
    pub tenant: Tenant,
}

impl Desk {
    pub fn new(store: &Arc<MemoryStore>, org_name: &str, seed: u64) -> Self {
        Self::with_clock(store, org_name, seed, HandClock::default())
    }

    pub fn with_clock(store: &Arc<MemoryStore>, org_name: &str, seed: u64, clock: HandClock) -> Self {
        let (kms, net) = (store.session(&org(org_name)), Net::default());
        let registry =
            Registry::new(kms.clone(), net.clone(), Arc::new(clock.clone()), Arc::new(Seeded::new(seed)));
        let tenant = Tenant::for_tests(org(org_name), &format!("person-{seed}"));
        Self { registry: Arc::new(registry), kms, net, clock, tenant }
    }

    pub async fn register(&self, registration: &Registration) -> Result<Record, RegistryError> {
        self.registry.register(&self.tenant, registration, &|_| ()).await
    }

    pub async fn steps(&self, registration: &Registration) -> Vec<RegisterStep> {
        let steps = Mutex::new(Vec::new());
        let _ = self
            .registry
            .register(&self.tenant, registration, &|step| steps.lock().unwrap().push(step))
            .await;
        steps.into_inner().unwrap()
    }

    pub async fn names(&self) -> Vec<String> {
        let list = self.registry.list(&self.tenant).await.unwrap();
        list.into_iter().map(|record| record.name.to_string()).collect()
    }

    pub async fn pending(&self) -> Vec<String> {
        let pending = self.registry.pending_purges(&self.tenant).await.unwrap();
        pending.into_iter().map(|purge| purge.name.to_string()).collect()
    }

    pub fn index_ref(&self) -> SecretRef {
        SecretRef::index(self.tenant.org())
    }

    pub fn purge_ref(&self) -> SecretRef {
        SecretRef::purge_list(self.tenant.org())
    }

    pub fn credential_ref(&self, cluster: &str) -> SecretRef {
        SecretRef::credential(self.tenant.org(), &name(cluster))
    }
}

pub fn forbidden(server: &str) -> ReadError {
    ReadError::Forbidden { server: server.to_owned(), message: "no".to_owned() }
}

pub fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}
