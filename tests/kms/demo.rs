//! The demo org's KMS, under the same contract.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use jiff::Timestamp;
use muster_core::clock::Clock;
use muster_core::kms::vault::VaultConfig;
use muster_core::kms::{IdentityTokens, SecretRef};
use muster_testkit::kms::KmsFault;
use muster_testkit::{DemoOptions, DemoOrg};
use serde_json::json;

use crate::contract::hold_contract;
use crate::identity::Always;
use crate::under_test::KmsUnderTest;

hold_contract!(super::Demo::start());

pub struct Demo {
    demo: DemoOrg,
    clock: Arc<ShiftedClock>,
}

/// Now, and as far ahead as it was moved.
#[derive(Default)]
struct ShiftedClock(AtomicI64);

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(Timestamp::now().as_second() + self.0.load(Ordering::SeqCst)).unwrap()
    }
}

impl Demo {
    pub async fn start() -> Option<Self> {
        let clock = Arc::new(ShiftedClock::default());
        let options = DemoOptions { clock: clock.clone(), ..DemoOptions::default() };
        Some(Self { demo: DemoOrg::start(options).await.unwrap(), clock })
    }
}

#[async_trait]
impl KmsUnderTest for Demo {
    fn config(&self) -> VaultConfig {
        VaultConfig {
            url: self.demo.kms_url().parse().unwrap(),
            mount: muster_testkit::kms::MOUNT.into(),
            auth_mount: "jwt".into(),
            role: "muster-{org}".into(),
            namespace: None,
            ca_pem: None,
        }
    }

    fn identity(&self, org: &str) -> Arc<dyn IdentityTokens> {
        let now = self.clock.now().as_second();
        let claims = json!({
            "iss": self.demo.issuer(), "aud": muster_testkit::oidc::KMS_AUDIENCE, "sub": "alice", "orgs": [org],
            "iat": now, "exp": now + 100_000,
        });
        Arc::new(Always(self.demo.sign(claims.as_object().unwrap()).unwrap()))
    }

    /// The client's own clock stays, so that it learns of the end from the server.
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(muster_core::clock::SystemClock)
    }

    async fn kill_tokens(&self) {
        self.clock.0.fetch_add(1000, Ordering::SeqCst);
    }

    async fn readable_versions(&self, at: &SecretRef) -> usize {
        self.demo.kms().versions(&at.to_string())
    }

    async fn seal(&self) {
        self.demo.set_kms_fault(KmsFault::Sealed);
    }
}
