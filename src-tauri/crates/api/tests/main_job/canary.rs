//! What is planted in every credential is found nowhere outside the backend's memory and the KMS: not in what crosses
//! to the web view, not in an event, an error, a log line at the finest level, or a file.

use std::io::Write;
use std::sync::{Arc, Mutex};

use muster_api::dto::fleet::ScopeView;
use muster_api::dto::staging::{ProbeRequest, RegisterRequest};
use muster_testkit::apiserver::Fault;
use muster_testkit::kms::KmsFault;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::desk::{CANARY, Desk};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Collects everything that the app lets out.
struct Outside(Vec<String>);

impl Outside {
    fn saw<T: serde::Serialize + std::fmt::Debug, E: serde::Serialize + std::fmt::Debug>(
        &mut self,
        answer: &Result<T, E>,
    ) {
        match answer {
            Ok(value) => self.0.push(serde_json::to_string(value).expect("it crosses as JSON")),
            Err(error) => self.0.push(serde_json::to_string(error).expect("it crosses as JSON")),
        }
        self.0.push(format!("{answer:?}"));
    }
}

#[test]
fn what_is_planted_in_the_credentials_is_seen_nowhere_outside() {
    let log = Captured::default();
    let filter = tracing_subscriber::EnvFilter::try_new(muster_api::log_filter("trace")).expect("a filter");
    let subscriber = tracing_subscriber::registry()
        .with(filter)
        .with(tracing_subscriber::fmt::layer().with_writer(log.clone()).with_ansi(false));
    let dispatch = tracing::Dispatch::new(subscriber);
    // Every thread of this runtime logs here, and no other test does.
    let runtime = {
        let dispatch = dispatch.clone();
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .on_thread_start(move || std::mem::forget(tracing::dispatcher::set_default(&dispatch)))
            .build()
            .expect("a runtime")
    };
    let (outside, files) = runtime.block_on(runtime.spawn(drive())).expect("no panic");
    let log = String::from_utf8_lossy(&log.0.lock().expect("no panic")).into_owned();
    assert!(log.contains("muster"), "the log was captured, or its silence would prove nothing");
    assert!(!log.contains(CANARY), "a log line holds it: {}", around(&log));
    for text in &outside {
        assert!(!text.contains(CANARY), "the web view would see it: {}", around(text));
    }
    for (path, bytes) in files {
        assert!(!bytes.windows(CANARY.len()).any(|w| w == CANARY.as_bytes()), "a file holds it: {path}");
    }
    for (name, value) in std::env::vars_os() {
        assert!(!value.to_string_lossy().contains(CANARY), "the environment holds it: {}", name.display());
    }
}

fn around(text: &str) -> &str {
    let at = text.find(CANARY).unwrap_or(0);
    let from = text[..at].char_indices().rev().nth(120).map_or(0, |(at, _)| at);
    &text[from..at]
}

async fn drive() -> (Vec<String>, Vec<(String, Vec<u8>)>) {
    tracing::trace!(target: "muster", "the log is open");
    let mut desk = Desk::open("ada").await;
    let mut events = desk.app.subscribe();
    let mut outside = Outside(Vec::new());
    outside.saw(&Ok::<_, ()>(desk.sign_in().await));
    let org = desk.org().await;
    let planted = org.kubeconfig("nobody/newcomer").expect("it runs").to_owned();
    assert!(planted.contains(CANARY), "it was planted, or its absence would prove nothing");
    outside.saw(&Ok::<_, ()>(desk.read_fleet().await));

    // A good one by the clipboard, and broken ones by files that are gone before anything is looked for.
    *desk.host.clipboard.lock().expect("no panic") = planted.clone();
    outside.saw(&desk.app.stage_paste(()).await);
    *desk.host.clipboard.lock().expect("no panic") = String::new();
    let dropped = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("http.yaml", planted.replace("https://", "http://")),
        ("cut.yaml", planted[..planted.len() / 2].to_owned()),
        ("userinfo.yaml", planted.replace("https://", &format!("https://user:{CANARY}@"))),
        ("tabs.yaml", planted.replace("    token", "\ttoken")),
    ] {
        std::fs::write(dropped.path().join(name), text).expect("a file");
    }
    desk.app.files_dropped(vec![dropped.path().to_owned()]).await;
    let staged = desk.app.staged_list(()).await;
    outside.saw(&staged);
    for file in staged.expect("signed in") {
        for context in &file.contexts {
            let scope = ScopeView::WholeCluster;
            let probe =
                ProbeRequest { id: file.id.clone(), context: context.name.clone(), scope: scope.clone() };
            outside.saw(&desk.app.staged_probe(probe).await);
            let register = RegisterRequest {
                id: file.id.clone(),
                context: context.name.clone(),
                name: context.suggested_name.clone(),
                provider: String::new(),
                scope,
                default: false,
            };
            outside.saw(&desk.app.staged_register(register).await);
        }
    }
    // Faults bring out the texts that nobody reads on good days.
    for fault in [
        Fault::Status(401),
        Fault::Status(403),
        Fault::Truncated,
        Fault::Html,
        Fault::Redirect("https://x.example".into()),
    ] {
        org.cluster("orchard/lattice").expect("it runs").set_fault(fault);
        outside.saw(&Ok::<_, ()>(desk.read_again("lattice").await));
        let request = serde_json::json!({"cluster": "lattice", "namespace": null});
        outside.saw(&muster_api::dispatch::dispatch(&desk.app, "pods_list", request).await);
    }
    for fault in [KmsFault::Sealed, KmsFault::Broken, KmsFault::LostAnswers, KmsFault::None] {
        org.set_kms_fault(fault);
        let request = serde_json::json!({"cluster": null});
        outside.saw(&muster_api::dispatch::dispatch(&desk.app, "fleet_refresh", request).await);
        let request = serde_json::json!({"cluster": "newcomer", "typedName": "newcomer"});
        outside.saw(&muster_api::dispatch::dispatch(&desk.app, "cluster_deregister", request).await);
    }
    outside.saw(&desk.app.sign_out(()).await);
    while let Ok(event) = events.try_recv() {
        outside.0.push(serde_json::to_string(&event).expect("it crosses as JSON"));
    }
    desk.app.shut_down().await;
    let mut files = Vec::new();
    collect(desk.folder.path(), &mut files);
    (outside.0, files)
}

fn collect(folder: &std::path::Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.path().is_dir() {
            collect(&entry.path(), files);
        } else {
            files.push((entry.path().display().to_string(), std::fs::read(entry.path()).unwrap_or_default()));
        }
    }
}
