//! A certificate authority per cluster, its server certificate, and client certificates.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SignatureAlgorithm,
};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::DemoError;

/// One cluster's authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
}

/// A client certificate and its key, both PEM.
pub struct ClientIdentity {
    /// The certificate.
    pub certificate: String,
    /// The key.
    pub key: String,
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    // Wide enough for any clock that a test passes in.
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2099, 1, 1);
    params
}

impl Authority {
    /// A new authority.
    ///
    /// # Errors
    /// Where the cryptography library cannot.
    pub fn new(name: &str) -> Result<Self, DemoError> {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(DemoError::certificate)?;
        let mut params = named(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(DemoError::certificate)?;
        let (pem, der) = (certificate.pem(), certificate.der().clone());
        Ok(Self { issuer: Issuer::new(params, key), pem, der })
    }

    /// Its certificate.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// What a server on loopback presents; client certificates of this authority are accepted and not required.
    ///
    /// # Errors
    /// Where the cryptography library cannot.
    pub fn server_config(&self) -> Result<rustls::ServerConfig, DemoError> {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(DemoError::certificate)?;
        let mut params = CertificateParams::new(vec![
            "127.0.0.1".to_owned(),
            "localhost".to_owned(),
            "kubernetes".to_owned(),
        ])
        .map_err(DemoError::certificate)?;
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2099, 1, 1);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.issuer).map_err(DemoError::certificate)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).map_err(DemoError::tls)?;
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(DemoError::tls)?;
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(DemoError::tls)?
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate.der().clone()], private)
            .map_err(DemoError::tls)
    }

    /// A client certificate whose common name is the user's, as Kubernetes reads it.
    ///
    /// # Errors
    /// Where the cryptography library cannot.
    pub fn client(
        &self,
        user: &str,
        algorithm: &'static SignatureAlgorithm,
    ) -> Result<ClientIdentity, DemoError> {
        let key = KeyPair::generate_for(algorithm).map_err(DemoError::certificate)?;
        let mut params = named(user);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer).map_err(DemoError::certificate)?;
        Ok(ClientIdentity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// The common name of a certificate that the authority signed.
pub fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    // The names here are of our own making: a UTF8String after the OID of commonName (2.5.4.3), the subject's last.
    const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
    let at = certificate.windows(5).rposition(|window| window == COMMON_NAME)?;
    let length = usize::from(*certificate.get(at + 6)?);
    let name = certificate.get(at + 7..at + 7 + length)?;
    String::from_utf8(name.to_vec()).ok()
}
