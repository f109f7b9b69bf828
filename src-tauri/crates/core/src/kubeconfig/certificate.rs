//! Certificates: what the fields of a kubeconfig hold, and what X.509 says of them (RFC 5280).
//!
//! Invariant: only subjects, dates and roles leave this file. Deliberately absent: verifying a chain. That is TLS's
//! work when the cluster is dialled.

use jiff::Timestamp;
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
    /// The SubjectPublicKeyInfo, in DER.
    pub public_key: Vec<u8>,
}

/// The certificates of a `-data` field, and the field's text with nothing but them.
pub struct Certificates {
    pub all: Vec<Certificate>,
    pub base64: Zeroizing<String>,
}

/// Reads `certificate-authority-data` or `client-certificate-data`.
pub fn certificates(field: &'static str, value: &str) -> Result<Certificates, Refusal> {
    let not_pem = || Refusal::BadPem { field, wanted: "a certificate" };
    let pem = material::decode(field, value)?;
    let ders = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>().map_err(|_| not_pem())?;
    if ders.is_empty() {
        return Err(not_pem());
    }
    let all = ders.iter().map(|der| certificate(der)).collect::<Option<Vec<_>>>().ok_or_else(not_pem)?;
    let base64 = material::encode("CERTIFICATE", ders.iter().map(AsRef::as_ref));
    Ok(Certificates { all, base64 })
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
        public_key: parsed.public_key().raw.to_vec(),
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
