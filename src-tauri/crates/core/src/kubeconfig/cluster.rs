//! A cluster entry judged: where it is, how its server proves itself, and through what it is reached.
//!
//! Deliberately absent: who asks. That is [`super::user`].

use jiff::Timestamp;
use url::Url;

use super::certificate::{self, Certificate};
use super::cut::Endpoint;
use super::document::ClusterEntry;
use super::findings::Findings;
use super::lenient::Lenient;
use super::refusal::Refusal;
use super::{Authority, EXPIRES_SOON, Warning, server};
use crate::endpoint::EndpointPolicy;

/// The verdict on a cluster entry.
#[derive(Default)]
pub struct ClusterVerdict {
    pub findings: Findings,
    /// What its server address names, also where it is refused.
    pub shown: Option<Url>,
    pub authority: Option<Authority>,
    /// There where nothing of it was refused.
    pub endpoint: Option<Endpoint>,
}

/// Judges a cluster entry.
pub fn judge(entry: &Lenient<ClusterEntry>, policy: EndpointPolicy, now: Timestamp) -> ClusterVerdict {
    let mut verdict = ClusterVerdict::default();
    let findings = &mut verdict.findings;
    findings.expect("cluster", "a mapping", entry);
    let absent = ClusterEntry::default();
    let entry = match entry {
        Lenient::Is(entry) => entry,
        Lenient::Absent => &absent,
        Lenient::Odd(_) => return verdict,
    };
    // An address of the wrong kind is not missing.
    let address = findings.text("server", &entry.server);
    verdict.shown = address.and_then(server::shown);
    let server = match (&entry.server, address) {
        (Lenient::Odd(_), _) => None,
        _ => findings.take_all(server::server(address, policy)),
    };
    let proxy = findings.text("proxy-url", &entry.proxy_url);
    let proxy = findings.take_all(server::proxy(proxy, policy)).flatten();
    if let Some(proxy) = &proxy {
        findings.warnings.push(Warning::Proxy { proxy: server::endpoint(proxy) });
    }
    // What is neither on nor off counts as on: it would switch a safeguard off.
    match &entry.insecure_skip_tls_verify {
        Lenient::Absent => {}
        Lenient::Is(switch) if !switch.0 => {}
        _ => findings.refuse(Refusal::InsecureTls),
    }
    if entry.certificate_authority.is_present()
        && findings.text("certificate-authority", &entry.certificate_authority).is_some()
    {
        findings.refuse(Refusal::FilePath { field: "certificate-authority" });
    }
    let data = findings.text("certificate-authority-data", &entry.certificate_authority_data);
    let authorities = data.and_then(|data| findings.take(certificate::authorities(data)));
    verdict.authority = authorities.as_ref().and_then(|read| judge_authorities(&read.all, now, findings));
    let name = findings.text("tls-server-name", &entry.tls_server_name);
    let tls_server_name = findings.take(server::tls_server_name(name)).flatten();
    if let (Some(server), true) = (server, findings.refusals.is_empty()) {
        let ca = authorities.map(|read| read.base64);
        verdict.endpoint = Some(Endpoint { server, proxy, ca, tls_server_name });
    }
    verdict
}

/// One authority that is in force is enough; where none is, the one that ends last is named.
fn judge_authorities(all: &[Certificate], now: Timestamp, findings: &mut Findings) -> Option<Authority> {
    let authorities: Vec<_> = all.iter().filter(|certificate| certificate.is_authority).collect();
    let in_force = authorities.iter().filter(|certificate| certificate.not_before <= now);
    let Some(latest) =
        in_force.max_by_key(|c| c.not_after).or(authorities.iter().max_by_key(|c| c.not_after))
    else {
        let subject = all.first().map(|leaf| leaf.subject.clone()).unwrap_or_default();
        findings.refuse(Refusal::LeafAsCa { subject });
        return None;
    };
    let subject = latest.subject.clone();
    if latest.not_after < now {
        findings.refuse(Refusal::CaExpired { subject, at: latest.not_after });
    } else if latest.not_before > now + super::CLOCK_SKEW {
        findings.refuse(Refusal::CaNotYetValid { subject, at: latest.not_before });
    } else if latest.not_after.duration_since(now) < EXPIRES_SOON {
        findings.warnings.push(Warning::CaExpiresSoon { at: latest.not_after });
    }
    Some(Authority { subject: latest.subject.clone(), expires: latest.not_after })
}
