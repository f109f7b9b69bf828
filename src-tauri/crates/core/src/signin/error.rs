//! What can go wrong between a person and a session, in words, each with a stable code.

use crate::secrets::SecretError;
use crate::tenant::OrgNameRefused;

/// Why nobody is signed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The identity provider did not answer.
    #[error("The identity provider {host} did not answer: {why}.")]
    ProviderUnreachable {
        /// Its host.
        host: String,
        /// In words.
        why: String,
    },
    /// It answered in a way that is not OpenID Connect.
    #[error("The identity provider {host} answered in a way that cannot be used: {why}.")]
    ProviderBroken {
        /// Its host.
        host: String,
        /// In words.
        why: String,
    },
    /// The provider refused the attempt.
    #[error("The identity provider refused the sign-in: {error}{}", .description.as_ref().map(|d| format!(" ({d})")).unwrap_or_default())]
    Refused {
        /// The OAuth error code.
        error: String,
        /// The provider's own words.
        description: Option<String>,
    },
    /// Nobody came back from the browser.
    #[error("Nobody came back from the browser within five minutes.")]
    TimedOut,
    /// No port for the browser to come back to.
    #[error("None of the ports that the browser could come back to is free ({why}).")]
    NoPort {
        /// In words.
        why: String,
    },
    /// The id token failed a check.
    #[error("The sign-in could not be trusted: {why}.")]
    Untrusted {
        /// Which check, in words.
        why: String,
    },
    /// Two clocks disagree.
    #[error(
        "The sign-in could not be trusted: this computer's clock and the identity provider's differ by about {seconds} seconds."
    )]
    ClockSkew {
        /// Provider's minus ours, in seconds.
        seconds: i64,
    },
    /// The verified token carries no org.
    #[error("Your sign-in names no organisation.")]
    NoOrg,
    /// The org in the token cannot be used.
    #[error(transparent)]
    OrgName(#[from] OrgNameRefused),
    /// An org was chosen that the token does not carry.
    #[error("Your sign-in does not carry the organisation that was chosen.")]
    ForeignOrg,
    /// The provider answered a refresh with somebody else's tokens.
    #[error("The identity provider answered for somebody else; the session was ended.")]
    ForeignSession,
    /// The refresh token is spent or revoked.
    #[error("The session has ended at the identity provider.")]
    SessionEnded,
    /// Nobody is signed in.
    #[error("Nobody is signed in.")]
    SignedOut,
    /// The keyring failed while the session was being kept.
    #[error("The session could not be kept: {0}.")]
    Keyring(#[from] SecretError),
}

impl SignInError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ProviderUnreachable { .. } => "provider_unreachable",
            Self::ProviderBroken { .. } => "provider_broken",
            Self::Refused { .. } => "sign_in_refused",
            Self::TimedOut => "sign_in_timed_out",
            Self::NoPort { .. } => "no_callback_port",
            Self::Untrusted { .. } => "sign_in_untrusted",
            Self::ClockSkew { .. } => "clock_skew",
            Self::NoOrg => "no_org",
            Self::OrgName(_) => "org_name",
            Self::ForeignOrg => "foreign_org",
            Self::ForeignSession => "foreign_session",
            Self::SessionEnded => "session_ended",
            Self::SignedOut => "signed_out",
            Self::Keyring(error) => error.code(),
        }
    }

    /// What the person can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ProviderUnreachable { .. } => "Check the network and the VPN, then try again.",
            Self::ProviderBroken { .. } => {
                "Check `issuer` in the deployment file, or ask who runs the identity provider."
            }
            Self::Refused { .. } => {
                "Sign in again; if it is refused again, ask who runs the identity provider."
            }
            Self::TimedOut => {
                "Try again. If the browser shows an error about a redirect, the provider does not know Muster's callback address."
            }
            Self::NoPort { .. } => {
                "Close the program that holds the port, or register further ports (redirect_ports)."
            }
            Self::Untrusted { .. } => {
                "Sign in again; if it happens again, tell who runs the identity provider."
            }
            Self::ClockSkew { .. } => "Set this computer's clock, then sign in again.",
            Self::NoOrg | Self::OrgName(_) | Self::ForeignOrg => {
                "Check `org_claim` in the deployment file, or ask who runs the identity provider for membership."
            }
            Self::ForeignSession | Self::SessionEnded | Self::SignedOut => "Sign in again.",
            Self::Keyring(_) => {
                "Unlock or start the system's keyring; without one the session ends with the app."
            }
        }
    }

    /// Whether it ends the session for good: no refresh will help, only a new sign-in.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::SessionEnded | Self::ForeignSession | Self::SignedOut)
    }

    /// Whether the same again may help.
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Self::ProviderUnreachable { .. } | Self::TimedOut | Self::NoPort { .. } | Self::SessionEnded
        )
    }
}
