//! Which client is kept for whom.

use super::*;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + minutes * 60).expect("a time")
}

fn org(name: &str) -> Org {
    Org::parse(name).expect("an org")
}

fn cluster(name: &str) -> ClusterName {
    ClusterName::parse(name).expect("a name")
}

fn generation(rev: u64) -> Generation {
    Generation::new("2026-03-01T10:00:00Z", rev)
}

fn filled(clients: &Clients<u32>, org: &Org, name: &ClusterName, rev: u64, now: Timestamp, with: u32) -> u32 {
    *clients.place(org, name, &generation(rev), now).get_or_init_blocking(with)
}

trait Blocking {
    fn get_or_init_blocking(&self, with: u32) -> &u32;
}

impl Blocking for OnceCell<u32> {
    fn get_or_init_blocking(&self, with: u32) -> &u32 {
        let _ = self.set(with);
        self.get().expect("it was set now or before")
    }
}

#[test]
fn the_same_generation_shares_a_client_and_another_one_does_not() {
    let clients = Clients::new();
    let (org, name) = (org("acme"), cluster("prod"));
    assert_eq!(filled(&clients, &org, &name, 1, at(0), 10), 10);
    assert_eq!(filled(&clients, &org, &name, 1, at(1), 11), 10, "kept");
    assert_eq!(filled(&clients, &org, &name, 2, at(1), 12), 12, "rotated");
    assert_eq!(
        filled(&clients, &org, &name, 1, at(1), 13),
        13,
        "a late reader of the old row never gets the new one's"
    );
}

#[test]
fn two_orgs_with_a_cluster_of_the_same_name_never_share_a_client() {
    let clients = Clients::new();
    let name = cluster("prod");
    assert_eq!(filled(&clients, &org("acme"), &name, 1, at(0), 10), 10);
    assert_eq!(filled(&clients, &org("zoo"), &name, 1, at(0), 20), 20);
    assert_eq!(filled(&clients, &org("acme"), &name, 1, at(0), 30), 10);
}

#[test]
fn a_client_that_nobody_uses_is_dropped_and_the_number_is_bounded() {
    let clients = Clients::new();
    let org = org("acme");
    assert_eq!(filled(&clients, &org, &cluster("idle"), 1, at(0), 1), 1);
    for number in 0..2 * CAPACITY {
        let name = cluster(&format!("c{number}"));
        filled(&clients, &org, &name, 1, at(i64::from(number > CAPACITY)), 1);
        assert!(clients.lock().len() <= CAPACITY, "after {number}");
    }
    let name = cluster("kept");
    assert_eq!(filled(&clients, &org, &name, 1, at(2), 5), 5);
    assert_eq!(filled(&clients, &org, &name, 1, at(31), 6), 5, "used within the half hour");
    assert_eq!(clients.lock().len(), 1, "all others were idle for half an hour");
}

#[test]
fn dropping_a_client_of_an_old_generation_leaves_the_new_one_alone() {
    let clients = Clients::new();
    let (org, name) = (org("acme"), cluster("prod"));
    filled(&clients, &org, &name, 2, at(0), 20);
    clients.forget_generation(&org, &name, &generation(1));
    assert_eq!(filled(&clients, &org, &name, 2, at(0), 21), 20);
    clients.forget_generation(&org, &name, &generation(2));
    assert_eq!(filled(&clients, &org, &name, 2, at(0), 22), 22);
}
