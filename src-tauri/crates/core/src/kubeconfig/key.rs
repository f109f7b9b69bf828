//! A client certificate's key: PKCS#8 (RFC 5958), PKCS#1 (RFC 8017) or SEC1 (RFC 5915).
//!
//! Invariant: key bytes are wiped when dropped. Deliberately absent: passphrases. Nobody is there to type one when a
//! fleet is read.

use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use x509_parser::prelude::{FromDer, SubjectPublicKeyInfo};
use zeroize::Zeroizing;

use super::certificate::Certificate;
use super::material;
use super::refusal::Refusal;

const FIELD: &str = "client-key-data";

/// A client key that can be used, and the field's text with nothing but it. OpenSSL writes `EC PARAMETERS` blocks
/// before SEC1 keys; TLS libraries trip over them, so they are left out.
pub struct Key {
    pub base64: Zeroizing<String>,
    der: Zeroizing<PrivateKeyDer<'static>>,
}

/// Reads `client-key-data`.
pub fn key(value: &str) -> Result<Key, Refusal> {
    let not_pem = || Refusal::BadPem { field: FIELD, wanted: "a private key" };
    let pem = material::decode(FIELD, value)?;
    let text = std::str::from_utf8(&pem).map_err(|_| not_pem())?;
    // RFC 5958 in PKCS#8, and the older encapsulated header of RFC 1421 in PKCS#1 and SEC1.
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(Refusal::KeyEncrypted);
    }
    let der = Zeroizing::new(PrivateKeyDer::from_pem_slice(&pem).map_err(|_| not_pem())?);
    let label = match &*der {
        PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
        PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
        _ => "PRIVATE KEY",
    };
    let base64 = material::encode(label, std::iter::once(der.secret_der()));
    Ok(Key { base64, der })
}

impl Key {
    /// Refuses a key that TLS cannot sign with, or whose public half is not the certificate's.
    pub fn belongs_to(&self, certificate: &Certificate) -> Result<(), Refusal> {
        let signing = rustls::crypto::aws_lc_rs::sign::any_supported_type(&self.der)
            .map_err(|_| Refusal::BadPem { field: FIELD, wanted: "a private key that TLS can use" })?;
        let public = signing.public_key();
        let public = public.as_ref().and_then(|spki| SubjectPublicKeyInfo::from_der(spki).ok());
        match public {
            Some((_, spki)) if spki.subject_public_key.data == certificate.public_key => Ok(()),
            _ => Err(Refusal::KeyMismatch),
        }
    }
}
