//! Certificates and keys inside `-data` fields: base64, then PEM, then what X.509 says.
//!
//! Invariant: key bytes are wiped when dropped; only subjects and dates leave this file. Deliberately absent:
//! verifying a chain. That is TLS's work when the cluster is dialled.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::prelude::{FromDer, X509Certificate, X509Version};
use zeroize::Zeroizing;

use super::document::Text;
use super::refusal::{Refusal, printable};

/// What kubectl writes in place of a secret: `config view` prints these without `--raw`.
const REDACTIONS: [&str; 3] = ["DATA+OMITTED", "REDACTED", "DATA OMITTED"];

/// Refuses the placeholders that stand where a secret was left out.
pub fn not_redacted(field: &'static str, value: &str) -> Result<(), Refusal> {
    match REDACTIONS.iter().find(|marker| value == **marker) {
        Some(marker) => Err(Refusal::Redacted { field, marker }),
        None => Ok(()),
    }
}

/// The PEM text of a `-data` field. White space inside the base64 is allowed, as kubectl allows line breaks.
fn pem(field: &'static str, value: &str) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    not_redacted(field, value)?;
    let compact = Zeroizing::new(value.split_ascii_whitespace().collect::<String>());
    STANDARD.decode(compact.as_bytes()).map(Zeroizing::new).map_err(|_| Refusal::BadBase64 { field })
}

/// What is told of a certificate.
pub struct Certificate {
    pub subject: String,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
    pub is_ca: bool,
    pub is_v1: bool,
    public_key: Vec<u8>,
}

/// The certificates of a `-data` field, and the field's text with nothing but them.
pub struct Certificates {
    pub all: Vec<Certificate>,
    pub base64: String,
}

/// Reads `certificate-authority-data` or `client-certificate-data`.
pub fn certificates(field: &'static str, value: &Text) -> Result<Certificates, Refusal> {
    let not_pem = || Refusal::BadPem { field, wanted: "a certificate" };
    let pem = pem(field, &value.0)?;
    let ders = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>().map_err(|_| not_pem())?;
    if ders.is_empty() {
        return Err(not_pem());
    }
    let all = ders.iter().map(|der| certificate(der)).collect::<Option<Vec<_>>>().ok_or_else(not_pem)?;
    let mut text = String::new();
    for der in &ders {
        write_pem(&mut text, "CERTIFICATE", der);
    }
    Ok(Certificates { all, base64: STANDARD.encode(text) })
}

fn certificate(der: &[u8]) -> Option<Certificate> {
    let (_, parsed) = X509Certificate::from_der(der).ok()?;
    let is_v1 = parsed.version() == X509Version::V1;
    // X.509 v1 has no extensions, so a v1 root says that it is one only by having signed itself.
    let is_ca = parsed.is_ca() || (is_v1 && parsed.subject() == parsed.issuer());
    let validity = parsed.validity();
    Some(Certificate {
        subject: printable(&subject(&parsed)),
        not_before: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
        not_after: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
        is_ca,
        is_v1,
        public_key: parsed.public_key().raw.to_vec(),
    })
}

fn subject(certificate: &X509Certificate<'_>) -> String {
    let name = certificate.subject();
    let common = name.iter_common_name().next().and_then(|cn| cn.as_str().ok()).map(str::to_owned);
    common.unwrap_or_else(|| name.to_string())
}

/// A client key that can be used, and the field's text with nothing but it. OpenSSL writes `EC PARAMETERS` blocks
/// before SEC1 keys; TLS libraries trip over them, so they are left out.
pub struct Key {
    pub base64: Zeroizing<String>,
    der: PrivateKeyDer<'static>,
}

/// Reads `client-key-data`.
pub fn key(value: &Text) -> Result<Key, Refusal> {
    const FIELD: &str = "client-key-data";
    let not_pem = || Refusal::BadPem { field: FIELD, wanted: "a private key" };
    let pem = pem(FIELD, &value.0)?;
    let text = std::str::from_utf8(&pem).map_err(|_| not_pem())?;
    // RFC 5958 in PKCS#8, and the older encapsulated header of RFC 1421 in PKCS#1 and SEC1.
    if text.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(Refusal::KeyEncrypted);
    }
    let der = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| not_pem())?;
    let label = match &der {
        PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
        PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
        _ => "PRIVATE KEY",
    };
    let mut text = Zeroizing::new(String::new());
    write_pem(&mut text, label, der.secret_der());
    Ok(Key { base64: Zeroizing::new(STANDARD.encode(text.as_bytes())), der })
}

impl Key {
    /// Refuses a key that TLS cannot sign with, or whose public half is not the certificate's.
    pub fn belongs_to(&self, certificate: &Certificate) -> Result<(), Refusal> {
        let signing = rustls::crypto::aws_lc_rs::sign::any_supported_type(&self.der).map_err(|_| {
            Refusal::BadPem { field: "client-key-data", wanted: "a private key that TLS can use" }
        })?;
        match signing.public_key() {
            Some(public) if public.as_ref() != certificate.public_key => Err(Refusal::KeyMismatch),
            _ => Ok(()),
        }
    }
}

fn write_pem(out: &mut String, label: &str, der: &[u8]) {
    let body = Zeroizing::new(STANDARD.encode(der));
    out.push_str(&format!("-----BEGIN {label}-----\n"));
    for line in body.as_bytes().chunks(64) {
        // Base64 is ASCII, so every chunk is text.
        out.push_str(std::str::from_utf8(line).unwrap_or_default());
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
}

/// When a bearer token that is a JWT expires (RFC 7519 `exp`). Not verified: the API server does that; this is only to
/// tell the person in time.
pub fn jwt_window(token: &str) -> (Option<Timestamp>, Option<Timestamp>) {
    #[derive(serde::Deserialize)]
    struct Window {
        nbf: Option<f64>,
        exp: Option<f64>,
    }
    let read = || {
        let mut parts = token.split('.');
        let (Some(_), Some(payload), Some(_), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        let payload = Zeroizing::new(base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).ok()?);
        serde_json::from_slice::<Window>(&payload).ok()
    };
    // Seconds with a fraction are legal (RFC 7519 NumericDate); they are rounded down.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturating cast of a date; out of range becomes no date"
    )]
    let instant = |seconds: Option<f64>| seconds.and_then(|s| Timestamp::from_second(s as i64).ok());
    read().map_or((None, None), |window| (instant(window.nbf), instant(window.exp)))
}
