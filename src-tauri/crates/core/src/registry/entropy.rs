//! Randomness, passed in: for the jitter between tries and for the marks that tell registrations apart.
//!
//! Deliberately absent: secrets. Nothing here has to be unguessable.

use rand::Rng;

/// Where random numbers come from.
pub trait Entropy: Send + Sync {
    /// A number, evenly spread.
    fn next(&self) -> u64;
}

/// The operating system's, through the thread's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn next(&self) -> u64 {
        rand::rng().next_u64()
    }
}

impl<F: Fn() -> u64 + Send + Sync> Entropy for F {
    fn next(&self) -> u64 {
        self()
    }
}
