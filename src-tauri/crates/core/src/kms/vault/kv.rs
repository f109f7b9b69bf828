//! The KV engine behind the mount, version 1 or 2: where a ref lies and how it is read, written and purged.
//!
//! Invariants: the version is asked for before the first use, because a write in the form of version 2 lands in a
//! version 1 mount at another place than it is read from; a value is UTF-8 text in the one field `value`. (The
//! original service hands raw bytes to its KMS; KV stores JSON, so the text is a JSON string here.)
//!
//! Deliberately absent: the soft delete of version 2, which leaves every version readable by a way back.

use reqwest::Method;
use serde::Serialize;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::answers::{self, Absence, Fields, Kv1Body, Kv2Body, MountBody, WrittenBody, decode, fault, says};
use super::session::Session;
use super::transport::{Answer, Body};
use crate::kms::{Expect, KmsError, Purged, SecretRef, Version, Versioned};

/// Which engine is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    V1,
    V2,
}

/// The engine at a mount, over a session.
pub(super) struct Kv<'a> {
    pub session: &'a Session,
    pub mount: &'a str,
    pub engine: Engine,
}

#[derive(Serialize)]
struct Written<'a> {
    value: &'a str,
}

#[derive(Serialize)]
struct Kv2Write<'a> {
    data: Written<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Cas>,
}

#[derive(Serialize)]
struct Cas {
    cas: u64,
}

/// A value, or why there is none.
enum Found {
    Value(Versioned),
    Nothing(Absence),
}

impl Engine {
    /// Asks the server what is mounted there.
    pub async fn detect(session: &Session, mount: &str) -> Result<Self, KmsError> {
        let misconfigured = |what: String| Err(KmsError::Misconfigured { what });
        let answer = session.send(Method::GET, &format!("sys/internal/ui/mounts/{mount}"), None).await?;
        match answer.status {
            200 => {}
            // The server tells a mount that is not there from one that this role has no right in to nobody.
            403 if says(&answer, "preflight") => {
                return misconfigured(format!(
                    "there is no mount “{mount}”, or your role has no right in it"
                ));
            }
            _ => return Err(fault(&answer, &format!("look at mount “{mount}”"), 0)),
        }
        let found = decode::<MountBody>(&answer)?.data;
        if found.path.as_deref().is_some_and(|path| path.trim_matches('/') != mount) {
            return misconfigured(format!("“{mount}” lies inside another mount; name that mount itself"));
        }
        let version = found.options.and_then(|options| options.version);
        match (found.kind.as_str(), version.as_deref()) {
            ("kv", Some("2")) => Ok(Self::V2),
            ("kv" | "generic", None | Some("" | "1")) => Ok(Self::V1),
            ("kv", Some(_)) => {
                misconfigured(format!("mount “{mount}” is of a KV version that is not known yet"))
            }
            _ => misconfigured(format!("mount “{mount}” is not a KV engine")),
        }
    }
}

impl Kv<'_> {
    fn data_path(&self, at: &SecretRef) -> String {
        match self.engine {
            Engine::V1 => format!("{}/{at}", self.mount),
            Engine::V2 => format!("{}/data/{at}", self.mount),
        }
    }

    /// What holds everything there is of a document: in version 2 the metadata, with all versions.
    fn whole_path(&self, at: &SecretRef) -> String {
        match self.engine {
            Engine::V1 => format!("{}/{at}", self.mount),
            Engine::V2 => format!("{}/metadata/{at}", self.mount),
        }
    }

    pub async fn get(&self, at: &SecretRef) -> Result<Option<Versioned>, KmsError> {
        Ok(match self.find(at).await? {
            Found::Value(value) => Some(value),
            Found::Nothing(_) => None,
        })
    }

    async fn find(&self, at: &SecretRef) -> Result<Found, KmsError> {
        let answer = self.session.send(Method::GET, &self.data_path(at), None).await?;
        match answer.status {
            200 => self.value_of(&answer).map(Found::Value),
            404 => answers::absence(&answer).map(Found::Nothing),
            _ => Err(fault(&answer, &format!("read {}", at.words()), 0)),
        }
    }

    fn value_of(&self, answer: &Answer) -> Result<Versioned, KmsError> {
        let (fields, version): (Fields, _) = match self.engine {
            Engine::V1 => (decode::<Kv1Body>(answer)?.data, None),
            Engine::V2 => {
                let read = decode::<Kv2Body>(answer)?.data;
                (read.data, Some(Version(read.metadata.version)))
            }
        };
        let mut text = fields.value.ok_or_else(|| KmsError::Protocol {
            what: "the document has no text in a field “value”".into(),
        })?;
        // The string's own allocation is handed on, so that nothing is copied and nothing is left behind.
        let bytes = Zeroizing::new(std::mem::take(&mut *text).into_bytes());
        let version = version.unwrap_or_else(|| fingerprint(&bytes));
        Ok(Versioned { bytes, version })
    }

    pub async fn put(&self, at: &SecretRef, text: &str, expect: Expect) -> Result<Version, KmsError> {
        match self.engine {
            Engine::V1 => self.put_v1(at, text, expect).await,
            Engine::V2 => self.put_v2(at, text, expect).await,
        }
    }

    async fn put_v2(&self, at: &SecretRef, text: &str, expect: Expect) -> Result<Version, KmsError> {
        let cas = match expect {
            Expect::Absent => Some(0),
            Expect::Version(Version(number)) => Some(number),
            Expect::Any => None,
        };
        match (self.write_v2(at, text, cas).await?, expect) {
            (Ok(version), _) => Ok(version),
            // After a soft delete by somebody else, "absent" is spelt with the deleted version's number.
            (Err(Unmet::Mismatch), Expect::Absent) => match self.find(at).await? {
                Found::Nothing(Absence::Deleted(Version(number))) => self
                    .write_v2(at, text, Some(number))
                    .await?
                    .map_err(|_| KmsError::Conflict { current: None }),
                Found::Nothing(Absence::NeverWritten) => Err(KmsError::Conflict { current: None }),
                Found::Value(value) => Err(KmsError::Conflict { current: Some(value.version) }),
            },
            // A mount with cas_required wants a number even from who does not care.
            (Err(Unmet::Required), Expect::Any) => {
                let number = match self.find(at).await? {
                    Found::Nothing(Absence::NeverWritten) => 0,
                    Found::Nothing(Absence::Deleted(Version(number))) => number,
                    Found::Value(value) => value.version.0,
                };
                self.write_v2(at, text, Some(number)).await?.map_err(|_| KmsError::Conflict { current: None })
            }
            (Err(_), _) => Err(KmsError::Conflict { current: None }),
        }
    }

    async fn write_v2(
        &self,
        at: &SecretRef,
        text: &str,
        cas: Option<u64>,
    ) -> Result<Result<Version, Unmet>, KmsError> {
        let body = Kv2Write { data: Written { value: text }, options: cas.map(|cas| Cas { cas }) };
        let body = Body::json(&body, text.len() + text.len() / 4 + 64)?;
        let size = body.len();
        let answer = self.session.send(Method::POST, &self.data_path(at), Some(body)).await?;
        match answer.status {
            200 => Ok(Ok(Version(decode::<WrittenBody>(&answer)?.data.version))),
            400 if says(&answer, "check-and-set parameter did not match") => Ok(Err(Unmet::Mismatch)),
            400 if says(&answer, "check-and-set parameter required") => Ok(Err(Unmet::Required)),
            _ => Err(fault(&answer, &format!("write {}", at.words()), size)),
        }
    }

    /// Version 1 has no compare-and-set. Looking first narrows the window; the caller reads back.
    async fn put_v1(&self, at: &SecretRef, text: &str, expect: Expect) -> Result<Version, KmsError> {
        if expect != Expect::Any {
            let current = self.get(at).await?.map(|value| value.version);
            let wanted = match expect {
                Expect::Version(version) => Some(version),
                Expect::Absent | Expect::Any => None,
            };
            if current != wanted {
                return Err(KmsError::Conflict { current });
            }
        }
        let body = Body::json(&Written { value: text }, text.len() + text.len() / 4 + 64)?;
        let size = body.len();
        let answer = self.session.send(Method::POST, &self.data_path(at), Some(body)).await?;
        match answer.status {
            200 | 204 => Ok(fingerprint(text.as_bytes())),
            _ => Err(fault(&answer, &format!("write {}", at.words()), size)),
        }
    }

    pub async fn purge(&self, at: &SecretRef) -> Result<Purged, KmsError> {
        let path = self.whole_path(at);
        // Deleting what is absent succeeds as well, so only looking first tells the two apart.
        let before = self.session.send(Method::GET, &path, None).await?;
        match before.status {
            404 => {
                if answers::absence(&before)? == Absence::NeverWritten {
                    return Ok(Purged::WasAbsent);
                }
            }
            // Who may delete and not look is told "gone".
            200 | 403 => {}
            _ => return Err(fault(&before, &format!("purge {}", at.words()), 0)),
        }
        let answer = self.session.send(Method::DELETE, &path, None).await?;
        match answer.status {
            200 | 204 => Ok(Purged::Gone),
            404 if answers::absence(&answer)? == Absence::NeverWritten => Ok(Purged::WasAbsent),
            _ => Err(fault(&answer, &format!("purge {}", at.words()), 0)),
        }
    }
}

/// How an expectation of version 2 was not met.
enum Unmet {
    Mismatch,
    Required,
}

/// What stands in for a version where the store has none: changes when the text does.
fn fingerprint(text: &[u8]) -> Version {
    let digest = Sha256::digest(text);
    Version(digest.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}
