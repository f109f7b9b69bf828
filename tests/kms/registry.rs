//! The registry over a real OpenBao: many desktops at once.

use std::sync::Arc;

use async_trait::async_trait;
use muster_core::clock::{Clock, SystemClock};
use muster_core::connect::{ConnectError, ReadError};
use muster_core::endpoint::EndpointPolicy;
use muster_core::kms::SecretRef;
use muster_core::kubeconfig::{SafeKubeconfig, inspect};
use muster_core::registry::{
    Cluster, ClusterName, Connect, CountedPage, Counts, Namespace, NamespaceBound, Registration, Registry,
    SystemEntropy,
};
use muster_core::tenant::Tenant;
use serde_json::json;

use crate::bao::Bao;
use crate::under_test::{KmsUnderTest, org};

/// Clusters that always answer.
#[derive(Clone)]
struct Answers;

#[async_trait]
impl Connect for Answers {
    type Client = Self;

    fn policy(&self) -> EndpointPolicy {
        EndpointPolicy::Private
    }

    async fn client(&self, _kubeconfig: &SafeKubeconfig) -> Result<Self, ConnectError> {
        Ok(Self)
    }
}

#[async_trait]
impl Cluster for Answers {
    fn server(&self) -> String {
        "api.test:6443".into()
    }

    async fn git_version(&self) -> Result<String, ReadError> {
        Ok("v1.36.2".into())
    }

    async fn count_page(&self, _after: Option<&str>) -> Result<CountedPage, ReadError> {
        Ok(CountedPage { counts: Counts { nodes: 1, nvidia_gpu: 8, amd_gpu: 0 }, next: None })
    }

    async fn prove_pods(&self, _namespace: &Namespace) -> Result<(), ReadError> {
        Ok(())
    }
}

fn registration(number: usize) -> Registration {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\n\
         clusters: [{{name: c, cluster: {{server: 'https://c{number}.example.com:6443'}}}}]\n\
         users: [{{name: u, user: {{token: 't{number}'}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
    );
    let now = SystemClock.now();
    let kubeconfig = inspect(text.as_bytes(), EndpointPolicy::Private, now).unwrap().cut("x", now).unwrap();
    Registration {
        name: ClusterName::parse(&format!("cluster-{number}")).unwrap(),
        kubeconfig,
        provider: String::new(),
        bound: NamespaceBound::WholeCluster,
        default: true,
    }
}

#[tokio::test]
async fn twenty_desktops_register_and_deregister_at_once_and_nothing_is_lost_or_left() {
    let Some(bao) = Bao::start().await else { return };
    let tenant = Tenant::for_tests(org("acme"), "alice");
    let desks: Vec<_> = (0..20)
        .map(|_| {
            let kms = Arc::new(bao.client("acme"));
            Arc::new(Registry::new(kms, Answers, Arc::new(SystemClock), Arc::new(SystemEntropy)))
        })
        .collect();
    let registering: Vec<_> = desks
        .iter()
        .cloned()
        .enumerate()
        .map(|(number, desk)| {
            let tenant = tenant.clone();
            tokio::spawn(
                async move { desk.register(&tenant, &registration(number), &|_| ()).await.map(|_| ()) },
            )
        })
        .collect();
    for task in registering {
        assert_eq!(task.await.unwrap(), Ok(()));
    }
    let list = desks[0].list(&tenant).await.unwrap();
    assert_eq!(list.len(), 20, "every row survived");
    assert_eq!(list.iter().filter(|record| record.default).count(), 1, "and one is the default");
    for (number, desk) in desks.iter().enumerate() {
        desk.reach(&tenant, &format!("cluster-{}", 19 - number)).await.unwrap();
    }

    let deregistering: Vec<_> = desks
        .iter()
        .cloned()
        .enumerate()
        .map(|(number, desk)| {
            let tenant = tenant.clone();
            tokio::spawn(
                async move { desk.deregister(&tenant, &format!("cluster-{number}")).await.map(|_| ()) },
            )
        })
        .collect();
    for task in deregistering {
        assert_eq!(task.await.unwrap(), Ok(()));
    }
    assert_eq!(desks[0].list(&tenant).await, Ok(Vec::new()));
    assert_eq!(desks[0].pending_purges(&tenant).await, Ok(Vec::new()));
    for number in 0..20 {
        let at =
            SecretRef::credential(&org("acme"), &ClusterName::parse(&format!("cluster-{number}")).unwrap());
        assert_eq!(bao.readable_versions(&at).await, 0, "{at}");
    }
    let purge =
        bao.operate(reqwest::Method::GET, "kv/data/orgs/acme/k8s/purge", serde_json::Value::Null).await;
    assert_eq!(purge["data"]["data"], json!({"value": "[]"}));
}
