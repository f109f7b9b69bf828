//! One person's computer, as far as signing in needs it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use muster_core::clock::Clock;
use muster_core::deployment::Deployment;
use muster_core::secrets::{MemoryStore, SecretStore};
use muster_core::signin::{Session, SignIn, SignInError, SignInState, Surroundings};

use crate::contract::{CLIENT_ID, ProviderUnderTest};
use crate::person::Person;

/// The system's clock, moved on by seconds.
#[derive(Default)]
pub struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + SignedDuration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

pub struct Desk {
    pub sign_in: Arc<SignIn>,
    pub clock: Arc<MovedClock>,
    pub secrets: Arc<dyn SecretStore>,
    folder: Arc<tempfile::TempDir>,
}

impl Desk {
    pub fn new(provider: &impl ProviderUnderTest, person: Person) -> Self {
        Self::with(provider, CLIENT_ID, person, Arc::new(MemoryStore::default()))
    }

    pub fn with(
        provider: &impl ProviderUnderTest,
        client_id: &str,
        person: Person,
        secrets: Arc<dyn SecretStore>,
    ) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        Self::at(provider, client_id, person, secrets, Arc::default(), folder)
    }

    /// Another process of the same person: the same keyring, folder and clock, nothing else.
    pub fn other_process(&self, provider: &impl ProviderUnderTest) -> Self {
        let (clock, folder) = (Arc::clone(&self.clock), Arc::clone(&self.folder));
        let client_id = &self.sign_in.deployment().client_id;
        Self::at(provider, client_id, Person::new(""), Arc::clone(&self.secrets), clock, folder)
    }

    fn at(
        provider: &impl ProviderUnderTest,
        client_id: &str,
        person: Person,
        secrets: Arc<dyn SecretStore>,
        clock: Arc<MovedClock>,
        folder: Arc<tempfile::TempDir>,
    ) -> Self {
        let text = format!(
            "title = \"x\"\nissuer = \"{}\"\nclient_id = \"{client_id}\"\nscopes = {}\n[kms]\nkind = \"vault\"\n\
             url = \"https://kms.example\"\n",
            provider.issuer(),
            provider.scopes(),
        );
        let around = Surroundings {
            browser: Arc::new(person),
            secrets: Arc::clone(&secrets),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            lock_dir: folder.path().to_owned(),
        };
        let sign_in = SignIn::new(Deployment::parse("x", &text).expect("it is good"), around);
        Self { sign_in, clock, secrets, folder }
    }

    /// Lets so many seconds pass on this computer.
    pub fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
    }

    /// What the attempt under way comes to.
    pub async fn settled(&self) -> SignInState {
        let mut state = self.sign_in.state();
        let settled = |state: &SignInState| {
            matches!(
                state,
                SignInState::SignedIn(_)
                    | SignInState::ChooseOrg { .. }
                    | SignInState::SignedOut { reason: Some(_) }
            )
        };
        state.wait_for(settled).await.expect("the state is kept").clone()
    }

    /// Signs in as somebody in one org would.
    pub async fn signed_in(&self) -> Arc<Session> {
        self.sign_in.start();
        match self.settled().await {
            SignInState::SignedIn(session) => session,
            SignInState::SignedOut { reason } => panic!("nobody is signed in: {reason:?}"),
            _ => panic!("nobody is signed in"),
        }
    }

    /// Why the attempt failed.
    pub async fn refused(&self) -> SignInError {
        self.sign_in.start();
        match self.settled().await {
            SignInState::SignedOut { reason: Some(reason) } => reason,
            _ => panic!("it was not refused"),
        }
    }

    /// The refresh token that is kept.
    pub async fn kept(&self) -> Option<String> {
        let deployment = self.sign_in.deployment();
        let account = format!("{}|{}", deployment.issuer_text(), deployment.client_id);
        let bytes = self.secrets.get(&account).await.expect("the store answers")?;
        let entry: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
        entry["refresh_token"].as_str().map(str::to_owned)
    }
}
