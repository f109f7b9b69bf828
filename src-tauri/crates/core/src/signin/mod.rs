//! Signing in: from a deployment to a verified person in one org, and a session that stays fresh.
//!
//! Start at [`SignIn`], a state machine that anybody may watch. Authorization code with PKCE (RFC 7636, S256 only)
//! through the system browser and a loopback listener (RFC 8252); the id token is checked in full; the org comes out
//! of its claims; only the refresh token is kept, in the keyring.
//!
//! Invariants: a [`Tenant`](crate::tenant::Tenant) is made here only; one attempt at a time; tokens never leave this
//! module but through [`Session::current`], which hands them to the KMS client.
//!
//! Deliberately absent: a web view for signing in, client secrets, implicit and password grants.

mod attempt;
mod browser;
mod error;
mod http;
pub mod id_token;
mod kept;
mod listener;
mod lock;
mod machine;
mod org;
mod pages;
mod provider;
mod relying;
mod session;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

pub use attempt::ATTEMPT_LASTS;
pub use browser::{Browser, SystemBrowser};
pub use error::SignInError;
pub use listener::PATH as CALLBACK_PATH;
pub use machine::{SIGN_OUT_LASTS, SignIn};
pub use session::Session;
pub use tokens::Storage;

use crate::clock::Clock;
use crate::secrets::SecretStore;
use crate::tenant::Org;

/// How far signing in has got.
#[derive(Clone)]
pub enum SignInState {
    /// Nobody is signed in.
    SignedOut {
        /// Why, where it was not by choice.
        reason: Option<SignInError>,
    },
    /// The keyring and the provider are being asked.
    Preparing,
    /// The browser is open.
    Waiting {
        /// When the attempt ends by itself.
        deadline: Timestamp,
        /// What the person should know.
        note: Option<&'static str>,
    },
    /// The code is being exchanged.
    Exchanging,
    /// The token carries several orgs.
    ChooseOrg {
        /// The person.
        person: String,
        /// The orgs.
        orgs: Vec<Org>,
    },
    /// Signed in.
    SignedIn(Arc<Session>),
}

/// What signing in needs from outside.
pub struct Surroundings {
    /// Opens the sign-in page.
    pub browser: Arc<dyn Browser>,
    /// Keeps the refresh token.
    pub secrets: Arc<dyn SecretStore>,
    /// Now.
    pub clock: Arc<dyn Clock>,
    /// A folder for the lock between processes.
    pub lock_dir: PathBuf,
}
