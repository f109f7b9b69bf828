//! Tests of signing in that need more than one of its parts, or more room than beside the code. Everything here runs
//! against a scripted provider (see [`op`]); the same code against a real one is in `tests/signin/` of the repository.

mod canary;
mod desk;
mod id_token;
mod keys;
mod listener;
mod lock;
mod op;
mod org;
mod provider;
mod refresh;
mod resume;
mod served;
mod sign_in;
mod sign_out;
mod signed;
