//! Leases on a cluster's credential.

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a time")
}

fn lease(cluster: &str, holder: &str) -> Lease {
    Lease::new(ClusterName::parse(cluster).expect("a name"), holder.to_owned())
}

fn take(list: &mut PurgeList, lease: &Lease, now: Timestamp) -> Result<bool, RegistryError> {
    Take { lease, now }.apply(list)
}

#[tokio::test]
async fn a_cluster_is_worked_on_by_one_at_a_time() {
    let mut list = PurgeList::default();
    let (mine, theirs) = (lease("prod", "me"), lease("prod", "they"));
    assert_eq!(take(&mut list, &mine, at(0)), Ok(true));
    assert!(matches!(take(&mut list, &theirs, at(119)), Err(RegistryError::Busy { .. })), "within the lease");
    assert_eq!(
        take(&mut list, &lease("other", "they"), at(1)),
        Ok(true),
        "another cluster is another matter"
    );
    assert_eq!(take(&mut list, &theirs, at(120)), Ok(true), "after the lease it is taken over");
    assert!(
        matches!(Finish(&mine).apply(&mut list), Err(RegistryError::Interrupted { .. })),
        "and the first is told"
    );
    assert_eq!(Finish(&theirs).apply(&mut list), Ok(true));
    assert_eq!(list.entries.len(), 1, "the other cluster's entry stays");
}

#[tokio::test]
async fn giving_up_leaves_the_entry_and_lets_others_go_on_at_once() {
    let mut list = PurgeList::default();
    let mine = lease("prod", "me");
    assert_eq!(take(&mut list, &mine, at(0)), Ok(true));
    assert_eq!(list.idle(at(1)).count(), 0, "it is being worked on");
    assert_eq!(Yield { lease: &mine, now: at(1) }.apply(&mut list), Ok(true));
    let idle: Vec<_> = list.idle(at(1)).collect();
    assert_eq!(idle, [PendingPurge { name: mine.name.clone(), since: at(0) }]);
    assert_eq!(take(&mut list, &lease("prod", "they"), at(1)), Ok(true));
    assert_eq!(list.entries[0].since, at(0), "it is pending since the first try");
}

#[tokio::test(start_paused = true)]
async fn a_holder_stops_writing_well_before_others_may_take_over() {
    let mine = lease("prod", "me");
    assert_eq!(mine.check(), Ok(()));
    tokio::time::advance(HOLD).await;
    assert!(matches!(mine.check(), Err(RegistryError::Interrupted { .. })));
    assert!(LEASE.as_secs() >= 2 * HOLD.as_secs() as i64, "a request may still be on its way");
}

#[tokio::test]
async fn a_list_that_was_written_is_read_back_with_fields_that_are_not_known() {
    let mut list = PurgeList::default();
    assert_eq!(take(&mut list, &lease("prod", "me"), at(0)), Ok(true));
    let mut document: serde_json::Value = serde_json::from_slice(&list.to_json()).expect("JSON");
    document[0]["reason"] = serde_json::json!("kept");
    let read = PurgeList::parse(document.to_string().as_bytes()).expect("our own format");
    let again: serde_json::Value = serde_json::from_slice(&read.to_json()).expect("JSON");
    assert_eq!(again, document);
}

#[test]
fn a_list_that_is_none_is_refused() {
    for text in [
        "{}",
        "[1]",
        r#"[{"name":"a"}]"#,
        r#"[{"name":"../a","since":"2026-01-01T00:00:00Z","holder":"x","until":"2026-01-01T00:00:00Z"}]"#,
    ] {
        assert!(matches!(PurgeList::parse(text.as_bytes()), Err(Fault::Corrupt(_))), "{text}");
    }
    assert!(matches!(PurgeList::parse(br#"[{"schema":2}]"#), Err(Fault::Newer(2))));
}
