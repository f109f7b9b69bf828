//! Starting the demo org.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use muster_core::clock::{Clock, SystemClock};
use muster_core::deployment::Deployment;
use muster_core::signin::Browser;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::DemoError;
use crate::apiserver::{ApiServer, Authority, Proof, Rights, User};
use crate::keys::SigningKey;
use crate::kms::{Kms, KmsFault, MOUNT};
use crate::kubeconfig::{self, Credential};
use crate::loopback::Loopback;
use crate::oidc::{CLIENT_ID, Provider};
use crate::person::ScriptedPerson;
use crate::scenario::{self, ClusterPlan, FLEET};

/// How the demo is started.
#[derive(Clone)]
pub struct DemoOptions {
    /// Varies names and ages.
    pub seed: u64,
    /// Now, for token lifetimes and object ages.
    pub clock: Arc<dyn Clock>,
    /// Planted in every token, kubeconfig and KMS value, so that a test can look for it.
    pub canary: String,
    /// Who signs in: an id of [`crate::oidc::PEOPLE`].
    pub person: String,
}

impl Default for DemoOptions {
    fn default() -> Self {
        Self { seed: 1, clock: Arc::new(SystemClock), canary: String::new(), person: "ada".into() }
    }
}

/// The demo org, up until dropped.
pub struct DemoOrg {
    options: DemoOptions,
    oidc: Loopback,
    kms_server: Loopback,
    kms: Arc<Kms>,
    key: SigningKey,
    clusters: HashMap<String, ApiServer>,
    kubeconfigs: HashMap<String, String>,
}

impl DemoOrg {
    /// Starts everything and registers the fleet.
    ///
    /// # Errors
    /// [`DemoError`] where a port or a certificate cannot be had.
    pub async fn start(options: DemoOptions) -> Result<Self, DemoError> {
        let key = SigningKey::generate()?;
        let oidc = Loopback::serve(|url| {
            Provider::new(url, key.clone(), Arc::clone(&options.clock), &options.canary).routes()
        })
        .await
        .map_err(DemoError::io)?;
        let kms = Kms::new(key.clone(), Arc::clone(&options.clock), &options.canary);
        let kms_server = Loopback::serve(|_| kms.routes()).await.map_err(DemoError::io)?;
        let mut demo = Self {
            options,
            oidc,
            kms_server,
            kms,
            key,
            clusters: HashMap::new(),
            kubeconfigs: HashMap::new(),
        };
        let now = demo.options.clock.now();
        let mut index: HashMap<&str, Vec<Value>> = HashMap::new();
        for plan in &FLEET {
            let url = demo.start_cluster(plan, now).await?;
            if let Some(org) = plan.org {
                index.entry(org).or_default().push(row(plan, org, &url, now));
                let sealed = demo.kubeconfigs[&id(org, plan.name)].clone();
                demo.kms.seed(&format!("orgs/{org}/k8s/clusters/{}/kubeconfig", plan.name), &sealed);
            }
        }
        for (org, rows) in index {
            demo.kms.seed(&format!("orgs/{org}/k8s/clusters"), &Value::from(rows).to_string());
        }
        Ok(demo)
    }

    async fn start_cluster(&mut self, plan: &ClusterPlan, now: Timestamp) -> Result<String, DemoError> {
        let authority = Authority::new(&format!("{} authority", plan.name))?;
        let canary = if self.options.canary.is_empty() { "demo" } else { &self.options.canary };
        let org = plan.org.unwrap_or("nobody");
        let token = format!("{canary}-{org}-{}", plan.name);
        let name = format!("muster-{org}");
        let (proof, credential) = if plan.by_certificate {
            let identity = authority.client(&name, &rcgen::PKCS_ECDSA_P521_SHA512)?;
            (Proof::CommonName(name.clone()), Credential::Certificate(identity))
        } else {
            (Proof::Token(token.clone()), Credential::Token(token))
        };
        let rights = match plan.bound {
            [] => Rights::ReadAll,
            bound => Rights::Namespaces(bound.iter().map(|ns| (*ns).to_owned()).collect()),
        };
        let user = User { name, proof, rights };
        let ca = authority.pem().to_owned();
        let url = if plan.up {
            let world = scenario::plan(plan, now, self.options.seed);
            let server = ApiServer::start(authority, plan.version, world, vec![user]).await?;
            let url = server.url();
            self.clusters.insert(id(org, plan.name), server);
            url
        } else {
            // A port that was just free and that nobody listens on.
            let socket = TcpListener::bind(("127.0.0.1", 0)).await.map_err(DemoError::io)?;
            format!("https://{}", socket.local_addr().map_err(DemoError::io)?)
        };
        let namespace = plan.bound.first().copied();
        let text = kubeconfig::write(plan.name, &url, &ca, &credential, namespace, canary);
        self.kubeconfigs.insert(id(org, plan.name), text);
        Ok(url)
    }

    /// The provider's issuer.
    pub fn issuer(&self) -> String {
        self.oidc.url()
    }

    /// The KMS's address.
    pub fn kms_url(&self) -> String {
        self.kms_server.url()
    }

    /// The KMS itself, as its operator sees it.
    pub fn kms(&self) -> &Kms {
        &self.kms
    }

    /// Switches a fault of the KMS.
    pub fn set_kms_fault(&self, fault: KmsFault) {
        self.kms.set_fault(fault);
    }

    /// The deployment file's text.
    pub fn deployment_toml(&self) -> String {
        format!(
            "title = \"Demo org\"\nissuer = \"{}\"\nclient_id = \"{CLIENT_ID}\"\nendpoint_policy = \"any\"\n\n\
             [org_claim]\npointers = [\"/orgs\"]\n\n\
             [kms]\nkind = \"vault\"\nurl = \"{}\"\nmount = \"{MOUNT}\"\nrole = \"muster-{{org}}\"\n",
            self.issuer(),
            self.kms_url()
        )
    }

    /// The deployment.
    ///
    /// # Errors
    /// Never, unless the two formats have come apart.
    pub fn deployment(&self) -> Result<Deployment, DemoError> {
        Deployment::parse("demo", &self.deployment_toml())
            .map_err(|error| DemoError::Start(error.to_string()))
    }

    /// The person of the options, as the browser that signs in.
    pub fn browser(&self) -> Arc<dyn Browser> {
        Arc::new(ScriptedPerson::new(&self.options.person))
    }

    /// A cluster's server, by `org/name` or, for one that nobody registered, `nobody/name`.
    pub fn cluster(&self, id: &str) -> Option<&ApiServer> {
        self.clusters.get(id)
    }

    /// A cluster's server, to stop.
    pub fn cluster_mut(&mut self, id: &str) -> Option<&mut ApiServer> {
        self.clusters.get_mut(id)
    }

    /// A cluster's kubeconfig, by the same id.
    pub fn kubeconfig(&self, id: &str) -> Option<&str> {
        self.kubeconfigs.get(id).map(String::as_str)
    }

    /// Kubeconfigs of clusters that nobody has registered yet, by name.
    pub fn unregistered(&self) -> Vec<(&str, &str)> {
        self.kubeconfigs
            .iter()
            .filter_map(|(id, text)| id.strip_prefix("nobody/").map(|name| (name, text.as_str())))
            .collect()
    }

    /// Signs any claims with the provider's key, for tests that attack.
    ///
    /// # Errors
    /// Where the cryptography library cannot.
    pub fn sign(&self, claims: &serde_json::Map<String, Value>) -> Result<String, DemoError> {
        self.key.sign(claims)
    }
}

fn id(org: &str, cluster: &str) -> String {
    format!("{org}/{cluster}")
}

fn row(plan: &ClusterPlan, org: &str, url: &str, now: Timestamp) -> Value {
    let (nodes, nvidia, amd) = plan.counts();
    let bounded = !plan.bound.is_empty();
    let mut row = json!({
        "name": plan.name,
        "org": org,
        "provider": plan.provider,
        "endpoint": url,
        "nodes": if bounded { 0 } else { nodes },
        "nvidiaGpu": if bounded { 0 } else { nvidia },
        "amdGpu": if bounded { 0 } else { amd },
        "registered": scenario::ago(now, 60 * 24 * 12),
        "default": plan.default,
    });
    if bounded {
        row["namespaces"] = json!(plan.bound);
    }
    row
}
