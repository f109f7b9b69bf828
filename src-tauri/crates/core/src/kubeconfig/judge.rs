//! One context judged: every reason to refuse it, everything worth a warning, and, where nothing speaks against it,
//! the kubeconfig cut to it.
//!
//! Invariant: a cut exists only where there is no refusal. Deliberately absent: stopping at the first fault.

use jiff::{SignedDuration, Timestamp};

use super::cut::{self, Credential, SafeKubeconfig};
use super::document::{ClusterEntry, Document, UserEntry, text};
use super::material::{self, Certificate};
use super::refusal::{Refusal, Refusals, printable};
use super::server;
use super::{Context, CredentialKind, Warning};
use crate::endpoint::EndpointPolicy;

/// A credential that ends within this time is warned about.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Where, by which rule and when a context is judged.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    pub document: &'a Document,
    pub policy: EndpointPolicy,
    pub now: Timestamp,
}

/// Collects verdicts, so that one fault does not hide the next.
#[derive(Default)]
struct Findings {
    refusals: Vec<Refusal>,
    warnings: Vec<Warning>,
}

impl Findings {
    fn take<T>(&mut self, result: Result<T, Refusal>) -> Option<T> {
        result.map_err(|refusal| self.refuse(refusal)).ok()
    }

    fn take_all<T>(&mut self, result: Result<T, Vec<Refusal>>) -> Option<T> {
        result.map_err(|refusals| refusals.into_iter().for_each(|r| self.refuse(r))).ok()
    }

    fn refuse(&mut self, refusal: Refusal) {
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }
}

impl Bench<'_> {
    /// Judges the context at this place in the file.
    pub fn judge(&self, at: usize) -> (Context, Result<SafeKubeconfig, Refusals>) {
        let contexts = self.document.contexts.as_deref().unwrap_or_default();
        let named = &contexts[at];
        let name = text(&named.name).unwrap_or_default();
        let mut findings = Findings::default();
        if contexts.iter().filter(|other| text(&other.name) == Some(name)).count() > 1 {
            findings.refuse(Refusal::DuplicateName { what: "context", name: printable(name) });
        }
        let cluster_name = text(&named.context.cluster).unwrap_or_default();
        let user_name = text(&named.context.user).unwrap_or_default();
        let cluster = self.cluster(cluster_name, &mut findings);
        let user = self.user(user_name, &mut findings);
        let namespace = text(&named.context.namespace);

        let mut expires = None;
        let mut kind = None;
        let endpoint = cluster.and_then(|cluster| self.judge_cluster(cluster, &mut findings));
        let credential = user.and_then(|user| self.judge_user(user, &mut findings, &mut kind, &mut expires));
        let server = cluster.and_then(|c| text(&c.server)).and_then(|s| url::Url::parse(s).ok());
        let context = Context {
            name: printable(name),
            key: name.to_owned(),
            current: text(&self.document.current_context) == Some(name),
            suggested_name: super::name::suggest(name, cluster_name, server.as_ref()),
            endpoint: server
                .as_ref()
                .filter(|url| url.host_str().is_some_and(|h| !h.is_empty()))
                .map(server::endpoint),
            namespace: namespace.map(printable),
            credential: kind,
            expires,
            provider: super::name::provider(name, server.as_ref()),
            refusals: findings.refusals.clone(),
            warnings: findings.warnings,
        };
        let cut = match (endpoint, credential) {
            (Some(endpoint), Some(credential)) if findings.refusals.is_empty() => {
                cut::cut(name, &endpoint, &credential, namespace)
            }
            _ => Err(Refusals(findings.refusals)),
        };
        (context, cut)
    }

    fn cluster(&self, name: &str, findings: &mut Findings) -> Option<&ClusterEntry> {
        let all = self.document.clusters.as_deref().unwrap_or_default();
        let found = all.iter().filter(|c| text(&c.name).unwrap_or_default() == name).map(|c| &c.cluster);
        only_one(found, "cluster", name, findings)
    }

    fn user(&self, name: &str, findings: &mut Findings) -> Option<&UserEntry> {
        let all = self.document.users.as_deref().unwrap_or_default();
        let found = all.iter().filter(|u| text(&u.name).unwrap_or_default() == name).map(|u| &u.user);
        only_one(found, "user", name, findings)
    }

    fn judge_cluster(&self, cluster: &ClusterEntry, findings: &mut Findings) -> Option<cut::Endpoint> {
        let server = findings.take_all(server::server(text(&cluster.server), self.policy));
        let proxy = findings.take_all(server::proxy(text(&cluster.proxy_url), self.policy)).flatten();
        if text(&cluster.insecure_skip_tls_verify).is_some_and(|value| !value.eq_ignore_ascii_case("false")) {
            findings.refuse(Refusal::InsecureTls);
        }
        if text(&cluster.certificate_authority).is_some() {
            findings.refuse(Refusal::FilePath { field: "certificate-authority" });
        }
        let ca = match cluster.certificate_authority_data.as_ref().filter(|data| data.get().is_some()) {
            Some(data) => {
                let read = findings.take(material::certificates("certificate-authority-data", data));
                if let Some(read) = &read {
                    self.judge_authorities(&read.all, findings);
                }
                read.map(|read| read.base64)
            }
            None => None,
        };
        if let Some(proxy) = &proxy {
            findings.warnings.push(Warning::Proxy { proxy: server::endpoint(proxy) });
        }
        Some(cut::Endpoint {
            server: server?,
            proxy,
            ca,
            tls_server_name: text(&cluster.tls_server_name).map(str::to_owned),
        })
    }

    fn judge_authorities(&self, all: &[Certificate], findings: &mut Findings) {
        let authorities: Vec<_> = all.iter().filter(|certificate| certificate.is_ca).collect();
        let Some(latest) = authorities.iter().max_by_key(|certificate| certificate.not_after) else {
            let subject = all.first().map(|leaf| leaf.subject.clone()).unwrap_or_default();
            findings.refuse(Refusal::LeafAsCa { subject });
            return;
        };
        if latest.not_after < self.now {
            findings.refuse(Refusal::CaExpired { subject: latest.subject.clone(), at: latest.not_after });
        } else if latest.not_after < self.now + EXPIRES_SOON {
            findings.warnings.push(Warning::CaExpiresSoon { at: latest.not_after });
        }
    }

    fn judge_user(
        &self,
        user: &UserEntry,
        findings: &mut Findings,
        kind: &mut Option<CredentialKind>,
        expires: &mut Option<Timestamp>,
    ) -> Option<Credential> {
        if let Some(exec) = &user.exec {
            let command = text(&exec.command).unwrap_or("no command");
            let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
            findings.refuse(Refusal::ExecPlugin { command: printable(program) });
            *kind = Some(CredentialKind::ExecPlugin);
        }
        if let Some(provider) = &user.auth_provider {
            findings
                .refuse(Refusal::AuthProvider { name: printable(text(&provider.name).unwrap_or("unnamed")) });
            *kind = Some(CredentialKind::AuthProvider);
        }
        for (field, value) in [
            ("tokenFile", &user.token_file),
            ("client-certificate", &user.client_certificate),
            ("client-key", &user.client_key),
        ] {
            if text(value).is_some() {
                findings.refuse(Refusal::FilePath { field });
            }
        }
        if text(&user.username).is_some() || text(&user.password).is_some() {
            findings.refuse(Refusal::BasicAuth);
            *kind = Some(CredentialKind::BasicAuth);
        }
        if text(&user.impersonate).is_some() || text(&user.as_uid).is_some() || user.as_groups.0 {
            findings.refuse(Refusal::Impersonation);
        }
        let token = user.token.as_ref().filter(|token| token.get().is_some());
        let token = token.and_then(|token| self.judge_token(token, findings, expires));
        let pair = self.judge_pair(user, findings, expires);
        if kind.is_none() {
            *kind = match (&token, &pair) {
                (Some(_), _) => Some(CredentialKind::Token),
                (None, Some(_)) => Some(CredentialKind::ClientCertificate),
                _ => None,
            };
        }
        if token.is_none() && pair.is_none() && findings.refusals.is_empty() {
            findings.refuse(Refusal::NoCredential);
        }
        (token.is_some() || pair.is_some()).then_some(Credential { token, pair })
    }

    fn judge_token(
        &self,
        token: &super::document::Text,
        findings: &mut Findings,
        expires: &mut Option<Timestamp>,
    ) -> Option<zeroize::Zeroizing<String>> {
        let value = token.get()?;
        findings.take(material::not_redacted("token", value))?;
        let (not_before, not_after) = material::jwt_window(value);
        self.judge_window("token", not_before, not_after, findings, expires);
        Some(zeroize::Zeroizing::new(value.to_owned()))
    }

    fn judge_pair(
        &self,
        user: &UserEntry,
        findings: &mut Findings,
        expires: &mut Option<Timestamp>,
    ) -> Option<cut::Pair> {
        let certificate_data = user.client_certificate_data.as_ref().filter(|data| data.get().is_some());
        let key_data = user.client_key_data.as_ref().filter(|data| data.get().is_some());
        let certificates = certificate_data
            .and_then(|data| findings.take(material::certificates("client-certificate-data", data)));
        let key = key_data.and_then(|data| findings.take(material::key(data)));
        let leaf = certificates.as_ref().and_then(|certificates| certificates.all.first());
        if let Some(leaf) = leaf {
            self.judge_window(
                "client certificate",
                Some(leaf.not_before),
                Some(leaf.not_after),
                findings,
                expires,
            );
            if leaf.is_v1 {
                findings.warnings.push(Warning::X509V1);
            }
        }
        if let (Some(leaf), Some(key)) = (leaf, &key) {
            findings.take(key.belongs_to(leaf))?;
        }
        Some(cut::Pair { certificate: certificates?.base64, key: key?.base64 })
    }

    fn judge_window(
        &self,
        what: &'static str,
        not_before: Option<Timestamp>,
        not_after: Option<Timestamp>,
        findings: &mut Findings,
        expires: &mut Option<Timestamp>,
    ) {
        if let Some(at) = not_before.filter(|at| *at > self.now) {
            findings.refuse(Refusal::CredentialNotYetValid { what, at });
        }
        let Some(at) = not_after else { return };
        *expires = Some(expires.map_or(at, |earlier| earlier.min(at)));
        if at <= self.now {
            findings.refuse(Refusal::CredentialExpired { what, at });
        } else if at < self.now + EXPIRES_SOON {
            findings.warnings.push(Warning::ExpiresSoon { what, at });
        }
    }
}

fn only_one<'a, T>(
    mut found: impl Iterator<Item = &'a T>,
    what: &'static str,
    name: &str,
    findings: &mut Findings,
) -> Option<&'a T> {
    let first = found.next();
    if first.is_none() {
        findings.refuse(Refusal::DanglingReference { what, name: printable(name) });
    } else if found.next().is_some() {
        findings.refuse(Refusal::DuplicateName { what, name: printable(name) });
    }
    first
}
