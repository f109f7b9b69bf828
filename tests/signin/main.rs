//! Sign-in against what it will meet: a real OpenID Connect provider (npm oidc-provider), driven by a scripted person,
//! and a real keyring (gnome-keyring in a session bus of its own). Where one of them is missing, the tests say so
//! loudly, and fail where CI runs. The demo org's provider is held to the same contract, so that it cannot drift.

#[macro_use]
mod contract;
mod contract_raw;
mod demo_op;
mod desk;
mod keyring;
mod person;
mod real_op;
mod real_op_only;
mod skipped;

contract_tests!(real_op::running);
