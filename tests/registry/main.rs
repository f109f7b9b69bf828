//! The registry as the rest of the program sees it: over a KMS in memory and clusters that answer as told.
//!
//! Time is tokio's paused clock and a clock of our own; no test sleeps, and none opens a socket.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod deregistering;
mod documents;
mod faults;
mod races;
mod reaching;
mod registering;
mod schedules;
mod support;
mod tenancy;
