//! Certificates: what the fields of a kubeconfig hold, and what X.509 says of them (RFC 5280).
//!
//! Invariant: only subjects, dates and roles leave this file. Deliberately absent: verifying a chain. That is TLS's
//! work when the cluster is dialled.

use jiff::Timestamp;
use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_parser::prelude::{FromDer, X509Certificate, X509Version};
use zeroize::Zeroizing;

use super::material;
use super::printable::printable;
use super::refusal::Refusal;

/// What is told of a certificate.
pub struct Certificate {
    pub subject: String,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
    /// Whether TLS can take it for the authority that signed a server's certificate.
    pub is_authority: bool,
    pub is_v1: bool,
    /// The public key itself, without what names its algorithm: that has more than one spelling (RFC 3279 section 2.3.1).
    pub public_key: Vec<u8>,
}

/// The certificates of a `-data` field, and the field's text with nothing but them.
pub struct Certificates {
    pub all: Vec<Certificate>,
    pub base64: Zeroizing<String>,
}

/// Reads `certificate-authority-data`. What TLS cannot read at all is left out, as kubectl leaves it out, unless nothing
/// remains.
pub fn authorities(value: &str) -> Result<Certificates, Refusal> {
    const FIELD: &str = "certificate-authority-data";
    let ders = pem_certificates(FIELD, value)?;
    let usable = |der: &&CertificateDer<'static>| RootCertStore::empty().add((*der).clone()).is_ok();
    let ders: Vec<_> = ders.iter().filter(usable).collect();
    let all: Vec<_> = ders.iter().filter_map(|der| certificate(der)).collect();
    if all.is_empty() {
        return Err(Refusal::BadPem { field: FIELD, wanted: "a certificate that TLS can read" });
    }
    Ok(Certificates { all, base64: material::encode("CERTIFICATE", ders.iter().map(|der| der.as_ref())) })
}

/// Reads `client-certificate-data`: the client's certificate, and after it whatever leads up to its authority.
pub fn client_chain(value: &str) -> Result<Certificates, Refusal> {
    const FIELD: &str = "client-certificate-data";
    let ders = pem_certificates(FIELD, value)?;
    let all = ders.iter().map(|der| certificate(der)).collect::<Option<Vec<_>>>();
    let all = all.ok_or(Refusal::BadPem { field: FIELD, wanted: "a certificate" })?;
    Ok(Certificates { all, base64: material::encode("CERTIFICATE", ders.iter().map(AsRef::as_ref)) })
}

fn pem_certificates(field: &'static str, value: &str) -> Result<Vec<CertificateDer<'static>>, Refusal> {
    let pem = material::decode(field, value)?;
    let ders = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    ders.ok().filter(|ders| !ders.is_empty()).ok_or(Refusal::BadPem { field, wanted: "a certificate" })
}

fn certificate(der: &[u8]) -> Option<Certificate> {
    let (_, parsed) = X509Certificate::from_der(der).ok()?;
    // A certificate that signed itself is its own authority, whatever it says of itself: X.509 v1 has no way to say it,
    // and TLS accepts a self-signed server certificate that is trusted by name.
    let signed_itself = parsed.subject().as_raw() == parsed.issuer().as_raw();
    let validity = parsed.validity();
    Some(Certificate {
        subject: printable(&subject(&parsed)),
        not_before: instant(validity.not_before.timestamp()),
        not_after: instant(validity.not_after.timestamp()),
        is_authority: parsed.is_ca() || signed_itself,
        is_v1: parsed.version() == X509Version::V1,
        public_key: parsed.public_key().subject_public_key.data.to_vec(),
    })
}

/// RFC 5280 section 4.1.2.5 writes "no end" as the last second of the year 9999, which lies past [`Timestamp::MAX`].
fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

fn subject(certificate: &X509Certificate<'_>) -> String {
    let name = certificate.subject();
    let common = name.iter_common_name().next().and_then(|cn| cn.as_str().ok()).map(str::to_owned);
    common.unwrap_or_else(|| name.to_string())
}
