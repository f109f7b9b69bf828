//! TLS: what is trusted, who we are, and what went wrong in words.
//!
//! Invariant: a certificate is always verified against the kubeconfig's authorities (the operating system's where it
//! has none) and against the host or `tls-server-name`; there is no switch that turns this off.
//!
//! Deliberately absent: revocation lists. Kubernetes' own authorities publish none.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::client::{ClientConfig, WebPkiServerVerifier};
use rustls::crypto::aws_lc_rs;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::time_provider::TimeProvider;
use rustls::{AlertDescription, CertificateError, Error as TlsError, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::ConnectError;
use super::material::Identity;
use crate::clock::Clock;
use crate::kubeconfig::printable;

/// Builds the TLS settings. The provider is aws-lc-rs, which knows P-521 keys, and is named here so that no
/// process-wide default has a say.
pub fn settings(
    authorities: Option<Vec<CertificateDer<'static>>>,
    identity: Option<Identity>,
    clock: Arc<dyn Clock>,
) -> Result<ClientConfig, ConnectError> {
    let unusable = |what: &str| ConnectError::Kubeconfig { what: what.to_owned() };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier: Arc<dyn rustls::client::danger::ServerCertVerifier> =
        match authorities {
            Some(authorities) => {
                let mut roots = RootCertStore::empty();
                for authority in authorities {
                    roots.add(authority).map_err(|_| unusable("its certificate authority cannot be used"))?;
                }
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                    .build()
                    .map_err(|_| unusable("its certificate authority cannot be used"))?
            }
            None => Arc::new(rustls_platform_verifier::Verifier::new(provider.clone()).map_err(|_| {
                unusable("it has no certificate authority, and this computer has none either")
            })?),
        };
    let builder = ClientConfig::builder_with_details(provider, Arc::new(VerifierClock(clock)))
        .with_safe_default_protocol_versions()
        .map_err(|_| unusable("TLS is not available"))?
        // "Dangerous" is rustls' word for any verifier set by hand; both above verify in full.
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut settings = match identity {
        // Not `with_client_auth_cert`: that parses the certificate, and refuses X.509 v1 (which MicroK8s issues) though
        // the server alone judges it. That key and certificate belong together, the kubeconfig gate has checked.
        Some(Identity { chain, key }) => {
            let key = aws_lc_rs::sign::any_supported_type(&key)
                .map_err(|_| unusable("its client key is of a kind that TLS cannot sign with"))?;
            let identity = SingleCertAndKey::from(CertifiedKey::new(chain, key));
            builder.with_client_cert_resolver(Arc::new(identity))
        }
        None => builder.with_no_client_auth(),
    };
    // Said openly, since some gateways speak HTTP/2 to whoever says nothing.
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(settings)
}

struct VerifierClock(Arc<dyn Clock>);

impl std::fmt::Debug for VerifierClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VerifierClock")
    }
}

impl TimeProvider for VerifierClock {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds)))
    }
}

/// Finds the TLS fault inside an error that wraps one.
pub fn tls_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a TlsError> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(found) = error.downcast_ref::<TlsError>() {
            return Some(found);
        }
        // An `io::Error` names the cause of what it wraps as its own, and so hides the wrapped error itself.
        if let Some(wrapped) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            at = Some(wrapped);
        } else {
            at = error.source();
        }
    }
    None
}

/// Says in words why the handshake with `server` failed.
pub fn handshake_fault(server: &str, error: &io::Error) -> ConnectError {
    let server = server.to_owned();
    match tls_error(error) {
        Some(error) => fault(server, error),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            ConnectError::Tls { server, detail: "it closed the connection during the handshake".into() }
        }
        None => ConnectError::Tls { server, detail: error.to_string() },
    }
}

/// Says in words what a TLS fault means.
pub fn fault(server: String, error: &TlsError) -> ConnectError {
    use CertificateError as C;
    match error {
        TlsError::InvalidCertificate(C::UnknownIssuer | C::BadSignature) => {
            ConnectError::TlsUnknownCa { server }
        }
        TlsError::InvalidCertificate(C::ExpiredContext { time, not_after }) => {
            ConnectError::TlsExpired { server, not_after: instant(*not_after), now: instant(*time) }
        }
        TlsError::InvalidCertificate(C::NotValidYetContext { time, not_before }) => {
            ConnectError::TlsNotYetValid { server, not_before: instant(*not_before), now: instant(*time) }
        }
        TlsError::InvalidCertificate(C::NotValidForNameContext { expected, presented }) => {
            ConnectError::TlsName {
                server,
                expected: expected.to_str().into_owned(),
                presented: presented.iter().take(20).map(|name| plain_name(name)).collect(),
            }
        }
        TlsError::AlertReceived(alert) if is_about_our_certificate(*alert) => {
            ConnectError::TlsClientRefused { server, detail: format!("TLS alert {alert:?}") }
        }
        TlsError::InvalidMessage(_) => {
            ConnectError::Tls { server, detail: "what answers there does not speak TLS".into() }
        }
        other => ConnectError::Tls { server, detail: printable(&other.to_string()) },
    }
}

/// Alerts (RFC 8446, section 6.2) with which a server turns down a client's certificate.
fn is_about_our_certificate(alert: AlertDescription) -> bool {
    use AlertDescription as A;
    matches!(
        alert,
        A::BadCertificate
            | A::UnsupportedCertificate
            | A::CertificateRevoked
            | A::CertificateExpired
            | A::CertificateUnknown
            | A::UnknownCA
            | A::AccessDenied
            | A::CertificateRequired
    )
}

fn instant(time: UnixTime) -> Timestamp {
    i64::try_from(time.as_secs()).ok().and_then(|s| Timestamp::from_second(s).ok()).unwrap_or(Timestamp::MAX)
}

/// The verifier writes `DnsName("kube.example")` and `IpAddress(192.0.2.1)`.
fn plain_name(presented: &str) -> String {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    printable(inner.unwrap_or(presented).trim_matches('"'))
}

/// The name that a certificate has to carry.
pub fn server_name(host: &str) -> Result<ServerName<'static>, ConnectError> {
    // A dot at the end keeps search domains out of the look-up; no certificate has one.
    ServerName::try_from(host.trim_end_matches('.').to_owned()).map_err(|_| ConnectError::Kubeconfig {
        what: format!("“{}” is not a name that a certificate can carry", printable(host)),
    })
}
