//! Any schedule of three desktops over one store that fails as networks do.

use std::sync::Arc;
use std::time::Duration;

use muster_core::kms::KmsError;
use muster_core::kms::memory::{Fault, MemoryStore, Verb};
use muster_core::registry::Deregistered;
use proptest::prelude::*;

use crate::races::assert_consistent;
use crate::support::{Desk, HandClock, registration};

const DESKS: usize = 3;
const CLUSTERS: u8 = 2;

/// How many schedules are tried; more of them by `MUSTER_SCHEDULES`.
fn cases() -> u32 {
    std::env::var("MUSTER_SCHEDULES").ok().and_then(|number| number.parse().ok()).unwrap_or(200)
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Register(u8),
    Deregister(u8),
    Retry,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..CLUSTERS).prop_map(Step::Register),
        4 => (0..CLUSTERS).prop_map(Step::Deregister),
        1 => Just(Step::Retry),
    ]
}

/// A fault and the document it hits.
fn fault() -> impl Strategy<Value = (u8, u8, bool)> {
    (0..4_u8, 0..8_u8, any::<bool>())
}

fn order(store: &MemoryStore, desk: &Desk, faults: &[(u8, u8, bool)], cluster: impl Fn(u8) -> String) {
    for (kind, place, on_purge) in faults {
        let (verb, at) = match place {
            0 => (Verb::Put, desk.index_ref()),
            1 => (Verb::Put, desk.purge_ref()),
            other if *on_purge => (Verb::Purge, desk.credential_ref(&cluster(*other))),
            other => (Verb::Put, desk.credential_ref(&cluster(*other))),
        };
        let down = KmsError::Unavailable { why: "lost".into(), retry_after: None };
        let fault = match kind {
            0 => Fault::Refuse(down),
            1 => Fault::LoseAnswer(down),
            2 => Fault::Late(down),
            _ => Fault::Refuse(KmsError::Forbidden { what: "do it".into() }),
        };
        store.fail_next(verb, &at, fault);
    }
}

/// Runs on paused time, with a courier that brings what was late at some moment within the next seconds.
fn on_paused_time<F: Future<Output = ()>>(store: &Arc<MemoryStore>, run: F) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let store = Arc::clone(store);
        let courier = tokio::spawn(async move {
            for pause in [3, 170, 20, 90, 1500, 40, 7000].into_iter().cycle() {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                store.deliver_late();
            }
        });
        run.await;
        courier.abort();
    });
}

/// The network heals, time passes, and somebody clears up.
async fn clear_up(store: &MemoryStore, desk: &Desk) {
    store.deliver_late();
    desk.clock.advance(600);
    for _ in 0..20 {
        let _ = desk.registry.retry_purges(&desk.tenant).await;
        store.deliver_late();
        desk.clock.advance(600);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// All desktops work on the same clusters. In the end no credential is without a row, no row without a credential,
    /// and nothing is owed.
    #[test]
    fn whatever_happens_rows_and_credentials_agree_in_the_end(
        schedules in prop::collection::vec(prop::collection::vec(step(), 1..5), DESKS),
        faults in prop::collection::vec(fault(), 0..8),
        seed in any::<u64>(),
    ) {
        let store = MemoryStore::new();
        on_paused_time(&store, async {
            let clock = HandClock::default();
            let desks: Vec<_> = (0..DESKS as u64)
                .map(|number| Desk::with_clock(&store, "acme", seed.wrapping_add(number), clock.clone()))
                .collect();
            order(&store, &desks[0], &faults, |place| format!("c{}", place % CLUSTERS));
            let tasks: Vec<_> = desks
                .iter()
                .zip(schedules)
                .map(|(desk, schedule)| {
                    let (registry, tenant) = (desk.registry.clone(), desk.tenant.clone());
                    tokio::spawn(async move {
                        for step in schedule {
                            match step {
                                Step::Register(number) => {
                                    let registration = registration(&format!("c{number}"), "t");
                                    let _ = registry.register(&tenant, &registration, &|_| ()).await;
                                }
                                Step::Deregister(number) => {
                                    let _ = registry.deregister(&tenant, &format!("c{number}")).await;
                                }
                                Step::Retry => {
                                    let _ = registry.retry_purges(&tenant).await;
                                }
                            }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            clear_up(&store, &desks[0]).await;
            assert_consistent(&store, &desks[0]);
            for cluster in desks[0].names().await {
                desks[0].registry.reach(&desks[0].tenant, &cluster).await.unwrap();
            }
        });
    }

    /// Each desktop has its own clusters and they share the documents. What a desktop was told is so, at once and after
    /// everything that was late has arrived.
    #[test]
    fn what_a_caller_was_told_is_true(
        schedules in prop::collection::vec(prop::collection::vec(step(), 1..6), DESKS),
        faults in prop::collection::vec(fault(), 0..8),
        seed in any::<u64>(),
    ) {
        let store = MemoryStore::new();
        on_paused_time(&store, async {
            let clock = HandClock::default();
            let desks: Vec<_> = (0..DESKS as u64)
                .map(|number| Desk::with_clock(&store, "acme", seed.wrapping_add(number), clock.clone()))
                .collect();
            let own = |desk: usize, number: u8| format!("desk{desk}-c{number}");
            order(&store, &desks[0], &faults, |place| own(usize::from(place) % DESKS, place % CLUSTERS));
            let tasks = desks.iter().enumerate().zip(&schedules).map(|((at, desk), schedule)| {
                let store = &store;
                async move {
                    let mut told = [None; CLUSTERS as usize];
                    for (turn, step) in schedule.iter().enumerate() {
                        match *step {
                            Step::Register(number) => {
                                let token = format!("turn-{turn}");
                                let registered = desk.register(&registration(&own(at, number), &token)).await;
                                told[usize::from(number)] = registered.is_ok().then_some((true, turn));
                            }
                            Step::Deregister(number) => {
                                let outcome = desk.registry.deregister(&desk.tenant, &own(at, number)).await;
                                let removed = matches!(outcome, Ok(Deregistered::Removed | Deregistered::WasAbsent));
                                told[usize::from(number)] = removed.then_some((false, turn));
                            }
                            Step::Retry => {
                                let _ = desk.registry.retry_purges(&desk.tenant).await;
                            }
                        }
                        verify(store, desk, at, &told);
                    }
                    told
                }
            });
            let told = futures_util::future::join_all(tasks).await;
            clear_up(&store, &desks[0]).await;
            assert_consistent(&store, &desks[0]);
            for (at, told) in told.iter().enumerate() {
                verify(&store, &desks[at], at, told);
            }
        });
    }
}

/// Holds what a desktop was told last of each of its clusters against what lies in the store.
fn verify(store: &MemoryStore, desk: &Desk, at: usize, told: &[Option<(bool, usize)>]) {
    let index =
        store.newest(&desk.index_ref()).map_or_else(String::new, |bytes| String::from_utf8(bytes).unwrap());
    for (number, told) in told.iter().enumerate() {
        let Some((registered, turn)) = told else { continue };
        let cluster = format!("desk{at}-c{number}");
        assert_eq!(
            index.contains(&format!("\"{cluster}\"")),
            *registered,
            "the row of {cluster}, told at turn {turn}"
        );
        let sealed = store.newest(&desk.credential_ref(&cluster));
        if *registered {
            let sealed = String::from_utf8(sealed.expect("a registered cluster has its credential")).unwrap();
            assert!(sealed.contains(&format!("turn-{turn}")), "{cluster} has the credential of turn {turn}");
        }
    }
}
