//! The sign-in screen and the badge that says who acts in which org.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::AppError;

/// One deployment the person can sign in to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentCard {
    /// Stable id (the file's stem).
    pub id: String,
    /// A title for people.
    pub title: String,
    /// The identity provider, as `host` or `host:port`.
    pub issuer: String,
    /// The KMS, as `host` or `host:port`.
    pub kms: String,
}

/// A deployment file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BrokenDeployment {
    /// The file's name.
    pub file: String,
    /// What is wrong with it, naming the line.
    pub error: AppError,
}

/// What the sign-in screen offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentList {
    /// Usable deployments, by title.
    pub deployments: Vec<DeploymentCard>,
    /// Files that could not be read.
    pub broken: Vec<BrokenDeployment>,
    /// The folder they are kept in, for people.
    pub folder: String,
}

/// Where the session is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum SessionStorage {
    /// The refresh token is in the operating system's keyring.
    Keyring,
    /// There is no usable keyring: the session ends with the app.
    SessionOnly,
}

/// Who is signed in, or how far signing in has got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "state")]
pub enum SessionView {
    /// Nobody is signed in.
    SignedOut {
        /// Why the last session or attempt ended, where it did not end by choice.
        reason: Option<AppError>,
    },
    /// Getting ready: the keyring and the identity provider are being asked.
    Preparing {
        /// The deployment's title.
        deployment: String,
    },
    /// The browser is open; the person is signing in there.
    Waiting {
        /// The deployment's title.
        deployment: String,
        /// When the attempt ends by itself.
        deadline: String,
        /// Something the person should know (an old sign-in page answered, the browser could not be opened).
        note: Option<String>,
    },
    /// The browser came back; tokens are being fetched and checked.
    Exchanging {
        /// The deployment's title.
        deployment: String,
    },
    /// The person belongs to several orgs and has to choose.
    ChooseOrg {
        /// The person's name.
        person: String,
        /// The orgs that the verified token carries.
        orgs: Vec<String>,
    },
    /// Signed in.
    SignedIn {
        /// The person's name.
        person: String,
        /// The org, as the verified token spells it.
        org: String,
        /// All orgs the token carries.
        orgs: Vec<String>,
        /// The deployment's title.
        deployment: String,
        /// Where the session is remembered.
        storage: SessionStorage,
        /// Whether this is the demo org.
        demo: bool,
    },
}

/// Starts a sign-in.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignInRequest {
    /// Id of a [`DeploymentCard`].
    pub deployment: String,
}

/// Chooses one of the orgs that the verified token carries.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChooseOrgRequest {
    /// The org, as listed.
    pub org: String,
}

/// What this build is, for the about line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// The version.
    pub version: String,
    /// `linux`, `macos` or `windows`.
    pub os: String,
}
