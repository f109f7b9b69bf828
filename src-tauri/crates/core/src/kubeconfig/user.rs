//! A user entry judged: what it authenticates with, and until when.
//!
//! Deliberately absent: everything that would have to be run, read from another file or asked of a person. It is named
//! and refused.

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::cut::{Credential, Pair};
use super::document::UserEntry;
use super::findings::Findings;
use super::lenient::{Lenient, Text};
use super::refusal::Refusal;
use super::{CLOCK_SKEW, CredentialKind, EXPIRES_SOON, Warning, certificate, key, token};

/// The verdict on a user entry.
#[derive(Default)]
pub struct UserVerdict {
    pub findings: Findings,
    pub kind: Option<CredentialKind>,
    /// The earlier of its token's and its certificate's end.
    pub expires: Option<Timestamp>,
    /// There where nothing of it was refused.
    pub credential: Option<Credential>,
}

/// Judges a user entry.
pub fn judge(entry: &Lenient<UserEntry>, now: Timestamp) -> UserVerdict {
    let mut bench = Bench { now, verdict: UserVerdict::default() };
    bench.verdict.findings.expect("user", "a mapping", entry);
    let absent = UserEntry::default();
    let entry = match entry {
        Lenient::Is(entry) => entry,
        Lenient::Absent => &absent,
        Lenient::Odd(_) => return bench.verdict,
    };
    bench.verdict.kind = kind(entry);
    bench.foreign(entry);
    bench.paths(entry);
    bench.lacks(entry);
    let token = bench.token(&entry.token);
    let pair = bench.pair(entry);
    let mut verdict = bench.verdict;
    if verdict.findings.refusals.is_empty() && (token.is_some() || pair.is_some()) {
        verdict.credential = Some(Credential { token, pair });
    }
    verdict
}

/// By what is there, whether or not it can be used.
fn kind(user: &UserEntry) -> Option<CredentialKind> {
    let given = |field: &Text| field.text().is_some();
    if user.exec.is_present() {
        Some(CredentialKind::ExecPlugin)
    } else if user.auth_provider.is_present() {
        Some(CredentialKind::AuthProvider)
    } else if given(&user.username) || given(&user.password) {
        Some(CredentialKind::BasicAuth)
    } else if given(&user.token) || given(&user.token_file) {
        Some(CredentialKind::Token)
    } else if has_certificate(user) || has_key(user) {
        Some(CredentialKind::ClientCertificate)
    } else {
        None
    }
}

fn has_certificate(user: &UserEntry) -> bool {
    user.client_certificate_data.text().or(user.client_certificate.text()).is_some()
}

fn has_key(user: &UserEntry) -> bool {
    user.client_key_data.text().or(user.client_key.text()).is_some()
}

struct Bench {
    now: Timestamp,
    verdict: UserVerdict,
}

impl Bench {
    fn refuse(&mut self, refusal: Refusal) {
        self.verdict.findings.refuse(refusal);
    }

    /// Programs, plugins, passwords and acting as somebody else.
    fn foreign(&mut self, user: &UserEntry) {
        if user.exec.is_present() {
            let command = user.exec.get().and_then(|exec| exec.command.text()).unwrap_or_default();
            self.refuse(Refusal::ExecPlugin { command: plain_name(command).to_owned() });
        }
        if user.auth_provider.is_present() {
            let name = user.auth_provider.get().and_then(|provider| provider.name.text());
            self.refuse(Refusal::AuthProvider { name: plain_name(name.unwrap_or_default()).to_owned() });
        }
        if [&user.username, &user.password].iter().any(|field| field.text().is_some()) {
            self.refuse(Refusal::BasicAuth);
        }
        let acts = [&user.act_as, &user.act_as_uid].iter().any(|field| field.text().is_some());
        if acts || user.act_as_groups.get().is_some() || user.act_as_extra.get().is_some() {
            self.refuse(Refusal::Impersonation);
        }
    }

    /// Material that lies in other files.
    fn paths(&mut self, user: &UserEntry) {
        for (field, value) in [
            ("tokenFile", &user.token_file),
            ("client-certificate", &user.client_certificate),
            ("client-key", &user.client_key),
        ] {
            if self.verdict.findings.text(field, value).is_some() {
                self.refuse(Refusal::FilePath { field });
            }
        }
    }

    /// A stray key beside a token is passed over, as kubectl does; a certificate without its key is not.
    fn lacks(&mut self, user: &UserEntry) {
        let lacks = match (has_certificate(user), has_key(user)) {
            (true, false) => "its client certificate has no key",
            (false, true) if self.verdict.kind == Some(CredentialKind::ClientCertificate) => {
                "its client key has no certificate"
            }
            _ if self.verdict.kind.is_none() && !has_malformed_credential(user) => {
                "it has neither a token nor a client certificate with its key"
            }
            _ => return,
        };
        self.refuse(Refusal::NoCredential { lacks });
    }

    fn token(&mut self, field: &Text) -> Option<Zeroizing<String>> {
        let value = self.verdict.findings.text("token", field)?;
        self.verdict.findings.take(token::usable(value))?;
        let (not_before, not_after) = token::window(value);
        self.window("token", not_before, not_after);
        Some(Zeroizing::new(value.to_owned()))
    }

    fn pair(&mut self, user: &UserEntry) -> Option<Pair> {
        let findings = &mut self.verdict.findings;
        let data = findings.text("client-certificate-data", &user.client_certificate_data);
        let certificates = data.and_then(|data| findings.take(certificate::client_chain(data)));
        let data = findings.text("client-key-data", &user.client_key_data);
        let key = data.and_then(|data| findings.take(key::key(data)));
        let (leaf, base64) = match certificates {
            Some(read) => (read.all.into_iter().next(), Some(read.base64)),
            None => (None, None),
        };
        if let Some(leaf) = &leaf {
            self.window("client certificate", Some(leaf.not_before), Some(leaf.not_after));
            if leaf.is_v1 {
                self.verdict.findings.warnings.push(Warning::X509V1);
            }
        }
        let (leaf, key) = (leaf?, key?);
        self.verdict.findings.take(key.belongs_to(&leaf))?;
        Some(Pair { certificate: base64?, key: key.base64 })
    }

    fn window(&mut self, what: &'static str, not_before: Option<Timestamp>, not_after: Option<Timestamp>) {
        if let Some(at) = not_before.filter(|at| *at > self.now + CLOCK_SKEW) {
            self.refuse(Refusal::CredentialNotYetValid { what, at });
        }
        let Some(at) = not_after else { return };
        let earliest = self.verdict.expires.map_or(at, |earlier| earlier.min(at));
        self.verdict.expires = Some(earliest);
        if at <= self.now {
            self.refuse(Refusal::CredentialExpired { what, at });
        } else if at.duration_since(self.now) < EXPIRES_SOON {
            self.verdict.findings.warnings.push(Warning::ExpiresSoon { what, at });
        }
    }
}

fn has_malformed_credential(user: &UserEntry) -> bool {
    [&user.token, &user.client_certificate_data, &user.client_key_data]
        .iter()
        .any(|field| matches!(field, Lenient::Odd(_)))
}

/// The plain characters that a program's or plugin's name begins with: neither its folder nor what somebody wrote
/// behind it, which may hold a secret.
fn plain_name(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = name.split(|c| !plain(c)).next().unwrap_or_default();
    if name.is_empty() { "unnamed" } else { name }
}
