//! The KMS client against KMS servers: one contract, held against a real OpenBao and against the demo org's server, so
//! that the demo cannot drift from the truth; and the client's guards against servers that misbehave on purpose.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bao;
mod contract;
mod demo;
mod guards;
mod identity;
mod openbao;
mod registry;
mod scripted;
mod under_test;
