//! What Vault's answers mean. Pure: a status and a body in, a meaning out.
//!
//! Invariants: only two of Vault's many 404 are "absent"; the rest are faults of the settings or of something that
//! stands in front of the server. No text of the server is handed on, since anything may answer: known texts are
//! recognised and put into our own words.
//!
//! Sources: the HTTP API of OpenBao 2.7 and Vault 1.x ("KV Secrets Engine - Version 2 (API)", "JWT/OIDC auth method
//! (API)"), and the contract tests under `tests/kms`, which hold each row against a real server.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use super::transport::Answer;
use crate::kms::{KmsError, Version};

/// An error body. Vault always has `errors`; a read of a deleted version has `data` instead.
#[derive(Deserialize)]
struct ErrorBody {
    errors: Option<Vec<String>>,
    warnings: Option<Vec<String>>,
    data: Option<Deleted>,
}

#[derive(Deserialize)]
struct Deleted {
    metadata: Option<VersionMetadata>,
}

#[derive(Deserialize)]
pub(super) struct VersionMetadata {
    pub version: u64,
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// Never written, or purged.
    NeverWritten,
    /// The newest version is deleted; writing anew needs this version for compare-and-set.
    Deleted(Version),
}

/// The texts of an answer that Vault itself gave; `None` for anything else (a proxy's page, say).
fn vault_errors(answer: &Answer) -> Option<ErrorBody> {
    let body: ErrorBody = serde_json::from_slice(&answer.body).ok()?;
    (body.errors.is_some() || body.warnings.is_some() || body.data.is_some()).then_some(body)
}

/// Whether some text of Vault's own holds these words.
pub(super) fn says(answer: &Answer, words: &str) -> bool {
    vault_errors(answer)
        .and_then(|body| body.errors)
        .is_some_and(|errors| errors.iter().any(|error| error.contains(words)))
}

/// Reads a 404: absence, or the fault that it really is.
pub(super) fn absence(answer: &Answer) -> Result<Absence, KmsError> {
    let misconfigured = |what: &str| Err(KmsError::Misconfigured { what: what.to_owned() });
    let Some(body) = vault_errors(answer) else {
        return Err(not_vault(answer.status));
    };
    if let Some(metadata) = body.data.and_then(|data| data.metadata) {
        return Ok(Absence::Deleted(Version(metadata.version)));
    }
    let warnings = body.warnings.unwrap_or_default();
    if warnings.iter().any(|warning| warning.contains("Invalid path for a versioned K/V")) {
        return misconfigured("the mount is of KV version 2 and was addressed as version 1");
    }
    match body.errors.as_deref() {
        Some([]) if warnings.is_empty() => Ok(Absence::NeverWritten),
        Some(errors) if errors.iter().any(|error| error.contains("namespace not found")) => {
            misconfigured("the KMS has no such namespace")
        }
        Some(errors) if errors.iter().any(|error| error.contains("no handler for route")) => {
            misconfigured("the KMS has nothing at this mount")
        }
        _ => Err(KmsError::Protocol { what: "a 404 of a kind that Vault does not give".into() }),
    }
}

/// What an answer that is no success means, whatever was asked. `what` is a verb phrase for a denial; `size` is what
/// was sent.
pub(super) fn fault(answer: &Answer, what: &str, size: usize) -> KmsError {
    let forbidden = || KmsError::Forbidden { what: what.to_owned() };
    let unavailable = |why: String| KmsError::Unavailable { why, retry_after: answer.retry_after };
    match answer.status {
        300..=399 => KmsError::Protocol { what: "it redirects elsewhere, which is never followed".into() },
        // OpenBao answers so to every request when a templated policy meets an org with `*` or `+` in it.
        400 if says(answer, "Forbidden") => forbidden(),
        400 if says(answer, "check-and-set parameter did not match") => KmsError::Conflict { current: None },
        401 => KmsError::Unauthenticated { why: "it asks for another kind of sign-in (401)".into() },
        403 if vault_errors(answer).is_some() => forbidden(),
        404 => match absence(answer) {
            Ok(_) => KmsError::Protocol { what: "404 for something that is always there".into() },
            Err(error) => error,
        },
        413 => KmsError::TooLarge { size, max: super::MAX_VALUE },
        429 => KmsError::RateLimited { retry_after: answer.retry_after },
        472 | 473 => unavailable("it is a standby of another server".into()),
        500 if says(answer, "value being too large") => {
            let (size, max) = too_large(answer).unwrap_or((size, super::MAX_VALUE));
            KmsError::TooLarge { size, max }
        }
        503 if says(answer, "sealed") => KmsError::Sealed,
        status @ 500..=599 => unavailable(format!("it failed with status {status}")),
        status if vault_errors(answer).is_none() => not_vault(status),
        status => KmsError::Protocol { what: format!("status {status} to an ordinary request") },
    }
}

/// What a login that was refused means.
pub(super) fn login_fault(answer: &Answer, role: &str, auth_mount: &str) -> KmsError {
    let unauthenticated = |why: &str| KmsError::Unauthenticated { why: why.to_owned() };
    let misconfigured = |what: String| KmsError::Misconfigured { what };
    match answer.status {
        400 if says(answer, "could not be found") || says(answer, "missing role") => {
            misconfigured(format!("the KMS has no role “{role}”"))
        }
        400 if says(answer, "(aud)") => misconfigured(format!(
            "your sign-in is not meant for the KMS: its audience is not one that role “{role}” accepts"
        )),
        400 if says(answer, "(iss)") => {
            misconfigured("the KMS trusts another issuer than the one you signed in with".into())
        }
        400 if says(answer, "converting claim") => {
            misconfigured("the claim that names your organisation is not plain text".into())
        }
        400 if says(answer, "claim") && says(answer, "does not match") => {
            unauthenticated(&format!("role “{role}” is for others than you"))
        }
        400 if says(answer, "expired") => unauthenticated("your sign-in is over, or a clock is wrong"),
        400 if says(answer, "not yet valid") || says(answer, "(nbf)") || says(answer, "(iat)") => {
            unauthenticated("your sign-in is not valid yet, so a clock is wrong")
        }
        400 if says(answer, "signature") => {
            unauthenticated("it does not know the key that signed your sign-in")
        }
        400 if vault_errors(answer).is_some() => unauthenticated("for a reason this version does not know"),
        403 if vault_errors(answer).is_some() => {
            misconfigured(format!("the KMS has no sign-in method at “{auth_mount}”"))
        }
        _ => fault(answer, "sign in", 0),
    }
}

/// A body that must be of this shape.
pub(super) fn decode<T: DeserializeOwned>(answer: &Answer) -> Result<T, KmsError> {
    serde_json::from_slice(&answer.body)
        .map_err(|_| KmsError::Protocol { what: "its answer is not the JSON that was expected".into() })
}

fn not_vault(status: u16) -> KmsError {
    KmsError::Protocol { what: format!("something that is not a Vault answered with status {status}") }
}

/// `got 156 bytes, max 1048576 bytes`, as the raft storage words it.
fn too_large(answer: &Answer) -> Option<(usize, usize)> {
    let errors = vault_errors(answer)?.errors?;
    let text = errors.iter().find(|text| text.contains("value being too large"))?;
    let number_after = |words: &str| -> Option<usize> {
        let rest = text.split(words).nth(1)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    Some((number_after("got ")?, number_after("max ")?))
}

fn wiped<'de, D: Deserializer<'de>>(from: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(from).map(Zeroizing::new)
}

fn wiped_if_there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Zeroizing<String>>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(Zeroizing::new))
}

/// `auth` of a login or a renewal.
#[derive(Deserialize)]
pub(super) struct LoginBody {
    pub auth: Auth,
}

#[derive(Deserialize)]
pub(super) struct Auth {
    #[serde(deserialize_with = "wiped")]
    pub client_token: Zeroizing<String>,
    /// Seconds; 0 means without end.
    #[serde(default)]
    pub lease_duration: u64,
    #[serde(default)]
    pub renewable: bool,
    pub metadata: Option<AuthMetadata>,
}

#[derive(Deserialize)]
pub(super) struct AuthMetadata {
    pub org: Option<String>,
}

/// A read of KV version 2. `data` is `null` for a deleted version.
#[derive(Deserialize)]
pub(super) struct Kv2Body {
    pub data: Kv2Data,
}

#[derive(Deserialize)]
pub(super) struct Kv2Data {
    pub data: Fields,
    pub metadata: VersionMetadata,
}

/// A read of KV version 1.
#[derive(Deserialize)]
pub(super) struct Kv1Body {
    pub data: Fields,
}

/// The fields of a document. Muster keeps text in `value`; other fields are other people's.
#[derive(Deserialize)]
pub(super) struct Fields {
    #[serde(default, deserialize_with = "wiped_if_there")]
    pub value: Option<Zeroizing<String>>,
}

/// The answer to a write of KV version 2.
#[derive(Deserialize)]
pub(super) struct WrittenBody {
    pub data: VersionMetadata,
}

/// `sys/internal/ui/mounts/<path>`.
#[derive(Deserialize)]
pub(super) struct MountBody {
    pub data: Mount,
}

#[derive(Deserialize)]
pub(super) struct Mount {
    #[serde(rename = "type")]
    pub kind: String,
    pub path: Option<String>,
    pub options: Option<MountOptions>,
}

#[derive(Deserialize)]
pub(super) struct MountOptions {
    pub version: Option<String>,
}

/// `auth/token/lookup-self`.
#[derive(Deserialize)]
pub(super) struct LookupBody {
    pub data: Lookup,
}

#[derive(Deserialize)]
pub(super) struct Lookup {
    #[serde(default)]
    pub display_name: String,
    pub expire_time: Option<String>,
    pub meta: Option<AuthMetadata>,
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
