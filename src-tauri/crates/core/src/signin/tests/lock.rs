//! The lock between processes; another process is another open file here, since a lock belongs to the open file.

use std::time::Duration;

use crate::signin::lock::{BOUND, RefreshLock};

#[tokio::test]
async fn one_at_a_time_for_each_account() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = RefreshLock::take(folder.path(), "a").await.expect("it is free");
    assert!(RefreshLock::take(folder.path(), "b").await.is_ok(), "another account's is another lock");
    let second = RefreshLock::take(folder.path(), "a");
    tokio::pin!(second);
    let waits = tokio::time::timeout(Duration::from_millis(20), &mut second).await;
    assert!(waits.is_err(), "the lock is held");
    drop(first);
    second.await.expect("it was let go");
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_never_let_go_is_waited_for_no_longer_than_the_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let _held = RefreshLock::take(folder.path(), "a").await.expect("it is free");
    let began = tokio::time::Instant::now();
    let refused = RefreshLock::take(folder.path(), "a").await.err().expect("it is held");
    assert_eq!(refused.kind(), std::io::ErrorKind::TimedOut);
    assert!(began.elapsed() >= BOUND);
}

#[tokio::test]
async fn whoever_stops_waiting_does_not_keep_the_lock() {
    let folder = tempfile::tempdir().expect("a folder");
    let held = RefreshLock::take(folder.path(), "a").await.expect("it is free");
    let gone = tokio::time::timeout(Duration::from_millis(5), RefreshLock::take(folder.path(), "a")).await;
    assert!(gone.is_err(), "the lock is held");
    drop(held);
    RefreshLock::take(folder.path(), "a").await.expect("the one that gave up let go of it");
}
