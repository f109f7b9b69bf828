//! The demo's clusters as data: which nodes, which pods, what is wrong with them.
//!
//! Invariant: the same seed and start time make the same objects. Deliberately absent: servers.

mod fleet;
mod measured;
mod nodes;
mod pods;
pub mod scale;
mod workloads;

pub use fleet::{ClusterPlan, FLEET, plan};
pub use measured::Measured;
pub use nodes::{Card, NodePlan};
pub use pods::PodPlan;

use jiff::{SignedDuration, Timestamp};

/// The instant this many minutes before `now`, as Kubernetes writes it.
pub(crate) fn ago(now: Timestamp, minutes: i64) -> String {
    let at = now.checked_sub(SignedDuration::from_mins(minutes)).unwrap_or(now);
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// A number out of a name: stable, spread out, no randomness to seed.
pub(crate) fn spread(name: &str, seed: u64) -> u64 {
    // FNV-1a (64 bit).
    name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A UUID-shaped id out of a name.
pub(crate) fn uid(name: &str, seed: u64) -> String {
    let (a, b) = (spread(name, seed), spread(name, seed ^ 0x5bd1_e995));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}
