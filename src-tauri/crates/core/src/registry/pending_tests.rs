//! Leases on a cluster's credential.

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a time")
}

fn lease(cluster: &str, holder: &str) -> Lease {
    Lease::new(ClusterName::parse(cluster).expect("a name"), holder.to_owned())
}

fn take(list: &mut PurgeList, lease: &Lease, now: Timestamp) -> Result<bool, RegistryError> {
    Take { lease, purpose: Purpose::Register, now }.apply(list)
}

fn release(list: &mut PurgeList, lease: &Lease, ended: Ended, now: Timestamp) -> Result<bool, RegistryError> {
    Release { lease, ended, now }.apply(list)
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
    let overtaken = release(&mut list, &mine, Ended::Registered, at(121));
    assert!(matches!(overtaken, Err(RegistryError::Interrupted { .. })), "and the first is told");
    assert_eq!(release(&mut list, &theirs, Ended::Registered, at(121)), Ok(true));
    assert_eq!(list.entries.len(), 1, "the other cluster's entry stays");
}

#[tokio::test]
async fn giving_up_leaves_the_entry_and_lets_others_go_on_at_once() {
    let mut list = PurgeList::default();
    let mine = lease("prod", "me");
    assert_eq!(take(&mut list, &mine, at(0)), Ok(true));
    assert_eq!(list.idle(at(1)).count(), 0, "it is being worked on");
    assert_eq!(release(&mut list, &mine, Ended::Failed, at(1)), Ok(true));
    let idle: Vec<_> = list.idle(at(1)).collect();
    assert_eq!(idle, [PendingPurge { name: mine.name.clone(), since: at(0) }]);
    assert_eq!(take(&mut list, &lease("prod", "they"), at(1)), Ok(true));
    assert_eq!(list.entries[0].since, at(0), "it is pending since the first try");
}

#[tokio::test]
async fn a_seal_that_may_still_arrive_keeps_its_entry_through_a_purge_and_hinders_no_registration() {
    let mut list = PurgeList::default();
    let (mine, second) = (lease("prod", "me"), lease("prod", "second"));
    assert_eq!(take(&mut list, &mine, at(0)), Ok(true));
    assert_eq!(release(&mut list, &mine, Ended::SealUnknown, at(10)), Ok(true));
    assert_eq!(list.idle(at(129)).count(), 0, "it is cleared up only when nothing can arrive any more");
    assert_eq!(take(&mut list, &second, at(11)), Ok(true), "compare-and-set makes a late seal harmless here");
    assert_eq!(release(&mut list, &second, Ended::Purged, at(12)), Ok(true));
    assert_eq!(list.idle(at(130)).count(), 1, "the purge of before says nothing about what arrived after it");
    let third = lease("prod", "third");
    assert_eq!(take(&mut list, &third, at(130)), Ok(true));
    assert_eq!(release(&mut list, &third, Ended::Purged, at(131)), Ok(true));
    assert_eq!(list, PurgeList::default());
}

#[tokio::test]
async fn a_purge_that_may_still_arrive_keeps_the_name_from_being_registered() {
    let mut list = PurgeList::default();
    let (mine, second) = (lease("prod", "me"), lease("prod", "second"));
    let remove = |lease| Take { lease, purpose: Purpose::Remove, now: at(11) };
    assert_eq!(take(&mut list, &mine, at(0)), Ok(true));
    assert_eq!(release(&mut list, &mine, Ended::PurgeUnknown, at(10)), Ok(true));
    assert!(matches!(take(&mut list, &second, at(11)), Err(RegistryError::Busy { .. })));
    assert_eq!(remove(&second).apply(&mut list), Ok(true), "purging again is harmless");
    assert_eq!(release(&mut list, &second, Ended::Purged, at(12)), Ok(true));
    assert!(
        matches!(take(&mut list, &second, at(129)), Err(RegistryError::Busy { .. })),
        "the first may still come"
    );
    assert_eq!(take(&mut list, &second, at(130)), Ok(true));
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
