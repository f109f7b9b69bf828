//! A real keyring: gnome-keyring in a session bus and a home of its own, so that nothing of the person's is touched.
//! Each outer test runs this very program again inside, for one of the inner tests (ignored otherwise).

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use muster_core::secrets::{KeyringStore, MAX_SECRET_BYTES, SecretStore};
use muster_core::signin::{SignInState, Storage};

use crate::contract::CLIENT_ID;
use crate::desk::Desk;
use crate::person::Person;
use crate::real_op;
use crate::skipped::skip;

/// Set inside, where the keyring is not the person's own.
const INSIDE: &str = "MUSTER_TEST_KEYRING_INSIDE";

/// Unlocks a fresh keyring, does something to it, runs this program, ends the keyring.
const WITH_KEYRING: &str = r#"
bus() { dbus-send --session --print-reply=literal "$@"; }
printf 'a password' | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
keyring=$!
trap 'kill -CONT "$keyring"; kill "$keyring"' EXIT
tries=0
until bus --dest=org.freedesktop.DBus /org/freedesktop/DBus \
  org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true; do
  tries=$((tries + 1))
  [ "$tries" -lt 200 ] || exit 97
  sleep 0.1
done
case "$2" in
  lock) bus --dest=org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service.Lock \
    array:objpath:/org/freedesktop/secrets/collection/login >/dev/null || exit 98 ;;
  stop) kill -STOP "$keyring" ;;
esac
"$0" --ignored --exact "$1" --nocapture
"#;

fn available() -> bool {
    let found = |program: &str| {
        std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|p| p.join(program).exists()))
    };
    let all = ["dbus-run-session", "dbus-send", "gnome-keyring-daemon"].into_iter().all(found);
    if !all {
        skip("gnome-keyring and dbus-run-session");
    }
    all
}

fn inside(mut command: Command, home: &Path) {
    command.env_clear().env(INSIDE, "1").env("HOME", home);
    for kept in ["PATH", "CI", "MUSTER_OIDC_PROVIDER"] {
        command.envs(std::env::var_os(kept).map(|value| (kept, value)));
    }
    for (name, folder) in [
        ("XDG_RUNTIME_DIR", "run"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
    ] {
        let folder = home.join(folder);
        std::fs::create_dir(&folder).expect("a folder");
        #[cfg(unix)]
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .expect("it is ours");
        command.env(name, folder);
    }
    let output = command.output().expect("it can be run");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "inside: {}\n{out}\n{err}", output.status);
    assert!(out.contains("1 passed"), "the inner test did not run:\n{out}");
}

fn with_keyring(test: &str, fault: &str) {
    if !available() {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("dbus-run-session");
    let program = std::env::current_exe().expect("this program");
    command.args(["--", "sh", "-c", WITH_KEYRING]).arg(program).args([test, fault]);
    inside(command, home.path());
}

fn store() -> KeyringStore {
    assert!(std::env::var_os(INSIDE).is_some(), "this would touch the person's own keyring");
    KeyringStore::new("muster-test")
}

#[test]
fn a_real_keyring_keeps_and_forgets() {
    with_keyring("keyring::inside_keeps_and_forgets", "");
}

#[test]
fn a_session_outlives_the_app_in_a_real_keyring() {
    with_keyring("keyring::inside_a_session_is_taken_up", "");
}

#[test]
fn a_locked_keyring_is_found_out_before_the_browser_opens() {
    with_keyring("keyring::inside_locked", "lock");
}

#[test]
fn a_keyring_that_does_not_answer_is_given_five_seconds() {
    with_keyring("keyring::inside_silent", "stop");
}

#[test]
fn a_computer_without_a_keyring_says_so_at_once() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "keyring::inside_absent", "--nocapture"]);
    inside(command, home.path());
}

#[tokio::test]
#[ignore = "runs inside a session bus of its own"]
async fn inside_keeps_and_forgets() {
    let store = store();
    store.probe().await.expect("it is unlocked");
    assert_eq!(store.get("probe").await.expect("it answers"), None, "the probe leaves nothing behind");
    assert_eq!(store.get("absent").await.expect("it answers"), None);
    store.delete("absent").await.expect("it is gone already");
    let largest: Vec<u8> = (0..MAX_SECRET_BYTES).map(|n| (n % 256) as u8).collect();
    store.set("https://id.example|muster", &largest).await.expect("it fits");
    let kept = store.get("https://id.example|muster").await.expect("it answers").expect("it is there");
    assert_eq!(*kept, largest, "any bytes, as many as every platform takes");
    assert_eq!(store.get("https://id.example|other").await.expect("it answers"), None);
    store.set("https://id.example|muster", b"newer").await.expect("it is replaced");
    let kept = store.get("https://id.example|muster").await.expect("it answers").expect("it is there");
    assert_eq!(*kept, b"newer");
    store.delete("https://id.example|muster").await.expect("it is forgotten");
    assert_eq!(store.get("https://id.example|muster").await.expect("it answers"), None);
}

#[tokio::test]
#[ignore = "runs inside a session bus of its own"]
async fn inside_a_session_is_taken_up() {
    let store: Arc<dyn SecretStore> = Arc::new(store());
    let Some(provider) = real_op::running().await else { return };
    let desk = Desk::with(provider, CLIENT_ID, Person::new("ada"), Arc::clone(&store));
    assert_eq!(desk.signed_in().await.storage(), Storage::Keyring);
    // The next start of the app: nothing but the keyring.
    let next = Desk::with(provider, CLIENT_ID, Person::new(""), store);
    next.sign_in.resume();
    let SignInState::SignedIn(session) = next.settled().await else { panic!("nobody is signed in") };
    assert_eq!((session.tenant().subject(), session.storage()), ("ada", Storage::Keyring));
    next.pass(290);
    session.current().await.expect("it is refreshed");
    next.sign_in.sign_out().await;
    assert_eq!(next.kept().await, None);
}

#[tokio::test]
#[ignore = "runs inside a session bus of its own"]
async fn inside_locked() {
    let store = store();
    let refused = store.probe().await.expect_err("it is locked, and nobody is there to unlock it");
    assert!(matches!(refused.code(), "keyring_denied" | "keyring_silent"), "{refused}");
}

#[tokio::test]
#[ignore = "runs inside a session bus of its own"]
async fn inside_silent() {
    let store = store();
    for refused in [store.probe().await.err(), store.get("a").await.err(), store.delete("a").await.err()] {
        assert_eq!(refused.map(|refused| refused.code()), Some("keyring_silent"));
    }
}

#[tokio::test]
#[ignore = "runs where no bus is"]
async fn inside_absent() {
    let refused = store().probe().await.expect_err("there is none");
    assert_eq!(refused.code(), "keyring_absent", "{refused}");
}
