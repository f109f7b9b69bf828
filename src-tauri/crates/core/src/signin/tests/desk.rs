//! One person's computer: a browser, a keyring, a clock and a folder, each as the test wants it.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;
use zeroize::Zeroizing;

use super::op::{NOW, Op};
use crate::clock::Clock;
use crate::deployment::Deployment;
use crate::secrets::{MemoryStore, SecretError, SecretStore};
use crate::signin::{Browser, Session, SignIn, SignInError, SignInState, Surroundings};

/// A clock that stands until it is set.
pub struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).expect("a time")
    }
}

/// A browser that notes what it is asked to open; the test does what the person would.
#[derive(Default)]
pub struct NotingBrowser {
    pub opened: Mutex<Vec<Url>>,
    pub broken: bool,
}

#[async_trait]
impl Browser for NotingBrowser {
    async fn open(&self, url: &Url) -> Result<(), String> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(url.clone());
        if self.broken { Err("no browser".into()) } else { Ok(()) }
    }
}

/// A keyring with faults.
#[derive(Default)]
pub struct Keyring {
    pub entries: MemoryStore,
    pub probe_fails: Mutex<Option<SecretError>>,
    pub get_fails: Mutex<Option<SecretError>>,
    pub set_fails: Mutex<Option<SecretError>>,
}

fn fails(with: &Mutex<Option<SecretError>>) -> Result<(), SecretError> {
    with.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
}

#[async_trait]
impl SecretStore for Keyring {
    async fn probe(&self) -> Result<(), SecretError> {
        fails(&self.probe_fails)
    }
    async fn get(&self, account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
        fails(&self.get_fails)?;
        self.entries.get(account).await
    }
    async fn set(&self, account: &str, secret: &[u8]) -> Result<(), SecretError> {
        fails(&self.set_fails)?;
        self.entries.set(account, secret).await
    }
    async fn delete(&self, account: &str) -> Result<(), SecretError> {
        self.entries.delete(account).await
    }
}

pub struct Desk {
    pub op: Op,
    pub clock: Arc<SetClock>,
    pub keyring: Arc<Keyring>,
    pub browser: Arc<NotingBrowser>,
    pub sign_in: Arc<SignIn>,
    folder: tempfile::TempDir,
}

impl Desk {
    pub async fn new() -> Self {
        Self::with("", NotingBrowser::default()).await
    }

    /// With more lines about the KMS in the deployment's file.
    pub async fn with_kms(more: &str) -> Self {
        Self::with(more, NotingBrowser::default()).await
    }

    /// With more lines about the KMS in the deployment's file, and another browser.
    pub async fn with(more: &str, browser: NotingBrowser) -> Self {
        let op = Op::start().await;
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(SetClock(AtomicI64::new(NOW)));
        let (keyring, browser) = (Arc::new(Keyring::default()), Arc::new(browser));
        let sign_in = Self::window(&op, more, &clock, &keyring, &browser, folder.path());
        Self { op, clock, keyring, browser, sign_in, folder }
    }

    fn window(
        op: &Op,
        more: &str,
        clock: &Arc<SetClock>,
        keyring: &Arc<Keyring>,
        browser: &Arc<NotingBrowser>,
        folder: &Path,
    ) -> Arc<SignIn> {
        let text = format!(
            "title = \"x\"\nissuer = \"{}\"\nclient_id = \"muster\"\n[kms]\nkind = \"vault\"\n\
             url = \"https://kms.example\"\n{more}\n",
            op.served.url
        );
        let around = Surroundings {
            browser: Arc::clone(browser) as Arc<dyn Browser>,
            secrets: Arc::clone(keyring) as Arc<dyn SecretStore>,
            clock: Arc::clone(clock) as Arc<dyn Clock>,
            lock_dir: folder.to_owned(),
        };
        SignIn::new(Deployment::parse("x", &text).expect("it is good"), around)
    }

    /// Another process of the same person: the same keyring and folder, nothing else.
    pub fn other_process(&self) -> Arc<SignIn> {
        Self::window(&self.op, "", &self.clock, &self.keyring, &self.browser, self.folder.path())
    }

    /// Lets time pass, for us and for the provider.
    pub fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
        self.op.state().date += seconds;
    }

    /// The first state that is as wanted.
    pub async fn until(&self, wanted: impl Fn(&SignInState) -> bool) -> SignInState {
        until(&self.sign_in, wanted).await
    }

    /// Starts, and waits for the link that the browser was given.
    pub async fn link(&self) -> Url {
        self.sign_in.start();
        self.until(|state| !matches!(state, SignInState::Preparing)).await;
        self.sign_in.link().expect("an attempt is under way")
    }

    /// Signs in as somebody in one org would.
    pub async fn signed_in(&self) -> Arc<Session> {
        let link = self.link().await;
        visit(&self.op.callback(&link)).await;
        match self.settled().await {
            SignInState::SignedIn(session) => session,
            other => panic!("nobody is signed in: {}", name(&other)),
        }
    }

    /// What an attempt came to.
    pub async fn settled(&self) -> SignInState {
        self.until(is_settled).await
    }

    /// Why an attempt failed.
    pub async fn refused(&self) -> SignInError {
        match self.settled().await {
            SignInState::SignedOut { reason: Some(reason) } => reason,
            other => panic!("it was not refused: {}", name(&other)),
        }
    }

    /// The keyring's entry.
    pub async fn kept(&self) -> Option<serde_json::Value> {
        let account = format!("{}|muster", self.op.served.url);
        let bytes = self.keyring.entries.get(&account).await.expect("memory answers")?;
        Some(serde_json::from_slice(&bytes).expect("it is JSON"))
    }
}

pub fn is_settled(state: &SignInState) -> bool {
    matches!(
        state,
        SignInState::SignedIn(_) | SignInState::ChooseOrg { .. } | SignInState::SignedOut { reason: Some(_) }
    )
}

pub async fn until(sign_in: &SignIn, wanted: impl Fn(&SignInState) -> bool) -> SignInState {
    let mut state = sign_in.state();
    state.wait_for(wanted).await.expect("the state is kept").clone()
}

/// What a browser does with a callback; the answer's text.
pub async fn visit(url: &Url) -> String {
    let authority = format!("{}:{}", url.host_str().expect("a host"), url.port().expect("a port"));
    let Ok(mut stream) = TcpStream::connect(&authority).await else { return String::new() };
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    let request = format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

pub fn name(state: &SignInState) -> String {
    match state {
        SignInState::SignedOut { reason } => format!("signed out ({reason:?})"),
        SignInState::Preparing => "preparing".into(),
        SignInState::Waiting { note, .. } => format!("waiting ({note:?})"),
        SignInState::Exchanging => "exchanging".into(),
        SignInState::ChooseOrg { orgs, .. } => format!("choosing of {orgs:?}"),
        SignInState::SignedIn(_) => "signed in".into(),
    }
}
