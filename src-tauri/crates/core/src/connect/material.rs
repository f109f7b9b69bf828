//! What a client is made of, taken out of a kubeconfig that passed the gate.
//!
//! Invariant: only embedded material is used. Nothing is read from a file, run, or taken from the environment; kube's own
//! loader is not used for that reason, since it reads `HTTPS_PROXY` and `NO_PROXY` and fails on what it finds there.
//!
//! Deliberately absent: judging. [`crate::kubeconfig`] did it; what is checked here again is only what would make this
//! code reach for a file or a program.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderValue;
use kube::config::{AuthInfo, Cluster, Kubeconfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};
use zeroize::Zeroizing;

use super::ConnectError;
use crate::kubeconfig::SafeKubeconfig;

/// A host and a port, as they are dialled and as they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The host, without the brackets of an IPv6 address.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Target {
    fn of(url: &Url, default_port: u16) -> Option<Self> {
        let host = match url.host()? {
            // URL parsing turned every spelling of an IPv4 address into one, where the scheme lets it.
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
            Host::Domain(name) => name.to_owned(),
        };
        Some(Self { host, port: url.port().unwrap_or(default_port) })
    }

    /// `host:port`, with brackets where the host is an IPv6 address.
    pub fn label(&self) -> String {
        let Self { host, port } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

/// How a proxy is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP CONNECT.
    Http,
    /// SOCKS version 5 (RFC 1928); names are resolved by the proxy.
    Socks5,
}

/// The proxy of a kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyTarget {
    pub kind: ProxyKind,
    pub at: Target,
}

impl ProxyTarget {
    /// `http://host:port`, for people.
    pub fn label(&self) -> String {
        let scheme = match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Socks5 => "socks5",
        };
        format!("{scheme}://{}", self.at.label())
    }
}

/// A client certificate with its key.
pub struct Identity {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

/// Everything that one client needs.
pub struct Material {
    pub server: Target,
    /// What stands before every API path, without a slash at the end; Rancher and others have one.
    pub prefix: String,
    pub proxy: Option<ProxyTarget>,
    /// The authorities of the cluster; `None` trusts those of the operating system.
    pub authorities: Option<Vec<CertificateDer<'static>>>,
    pub identity: Option<Identity>,
    /// `Bearer ...`, in memory that is wiped when the last clone is dropped.
    pub authorization: Option<HeaderValue>,
    /// The name that the server's certificate has to carry, where it is not the host.
    pub server_name: Option<String>,
}

/// Takes the material out of the kubeconfig.
pub fn material(kubeconfig: &SafeKubeconfig) -> Result<Material, ConnectError> {
    let server_url = kubeconfig.server();
    let server = Target::of(server_url, 443).ok_or_else(|| unusable("its server address has no host"))?;
    // The parser's own error may quote the file, so it is not passed on.
    let document = Kubeconfig::from_yaml(kubeconfig.text()).map_err(|_| unusable("it is not readable"))?;
    let (cluster, user) = only_entries(document)?;
    refuse_what_lies_elsewhere(&cluster, &user)?;
    let authorization = user.token.as_ref().map(bearer).transpose()?;
    let identity = identity(&user)?;
    if authorization.is_none() && identity.is_none() {
        return Err(unusable("it holds neither a token nor a client certificate"));
    }
    Ok(Material {
        server,
        prefix: server_url.path().trim_end_matches('/').to_owned(),
        proxy: kubeconfig.proxy().map(proxy).transpose()?,
        authorities: cluster.certificate_authority_data.as_deref().map(authorities).transpose()?,
        identity,
        authorization,
        server_name: kubeconfig.tls_server_name().map(str::to_owned),
    })
}

fn unusable(what: &str) -> ConnectError {
    ConnectError::Kubeconfig { what: what.to_owned() }
}

fn only_entries(document: Kubeconfig) -> Result<(Cluster, AuthInfo), ConnectError> {
    let mut clusters = document.clusters.into_iter().filter_map(|named| named.cluster);
    let mut users = document.auth_infos.into_iter().filter_map(|named| named.auth_info);
    match (clusters.next(), clusters.next(), users.next(), users.next()) {
        (Some(cluster), None, Some(user), None) => Ok((cluster, user)),
        _ => Err(unusable("it is not cut to one cluster and one user")),
    }
}

fn refuse_what_lies_elsewhere(cluster: &Cluster, user: &AuthInfo) -> Result<(), ConnectError> {
    let outside = [
        (user.exec.is_some(), "it runs a program"),
        (user.auth_provider.is_some(), "it relies on an auth-provider plugin"),
        (user.token_file.is_some(), "its token lies in another file"),
        (user.client_certificate.is_some(), "its client certificate lies in another file"),
        (user.client_key.is_some(), "its client key lies in another file"),
        (cluster.certificate_authority.is_some(), "its authority lies in another file"),
        (cluster.insecure_skip_tls_verify == Some(true), "it switches TLS verification off"),
        (user.impersonate.is_some(), "it acts as somebody else"),
    ];
    outside.into_iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, what)| Err(unusable(what)))
}

fn proxy(url: &Url) -> Result<ProxyTarget, ConnectError> {
    let (kind, default_port) = match url.scheme() {
        "http" => (ProxyKind::Http, 80),
        "socks5" => (ProxyKind::Socks5, 1080),
        _ => return Err(unusable("its proxy is neither http:// nor socks5://")),
    };
    let at = Target::of(url, default_port).ok_or_else(|| unusable("its proxy has no host"))?;
    Ok(ProxyTarget { kind, at })
}

fn bearer(token: &SecretString) -> Result<HeaderValue, ConnectError> {
    let mut text = Zeroizing::new(Vec::with_capacity(token.expose_secret().len() + 7));
    text.extend_from_slice(b"Bearer ");
    text.extend_from_slice(token.expose_secret().trim().as_bytes());
    let mut header = HeaderValue::from_maybe_shared(Bytes::from_owner(text))
        .map_err(|_| unusable("its token has characters that no header can carry"))?;
    header.set_sensitive(true);
    Ok(header)
}

fn decoded(field: &str, value: &str) -> Result<Zeroizing<Vec<u8>>, ConnectError> {
    STANDARD
        .decode(value.trim())
        .map(Zeroizing::new)
        .map_err(|_| ConnectError::Kubeconfig { what: format!("“{field}” is not base64 text") })
}

fn certificates(field: &str, value: &str) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let pem = decoded(field, value)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    certificates.ok().filter(|some| !some.is_empty()).ok_or_else(|| ConnectError::Kubeconfig {
        what: format!("“{field}” holds no certificate in PEM form"),
    })
}

fn authorities(value: &str) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    certificates("certificate-authority-data", value)
}

fn identity(user: &AuthInfo) -> Result<Option<Identity>, ConnectError> {
    let (certificate, key) = match (&user.client_certificate_data, &user.client_key_data) {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(None),
        _ => return Err(unusable("it has a client certificate or a key, but not both")),
    };
    let chain = certificates("client-certificate-data", certificate)?;
    let pem = decoded("client-key-data", key.expose_secret())?;
    // PKCS#8, PKCS#1 and SEC1 are found; other blocks, such as EC PARAMETERS, are passed over.
    let key = PrivateKeyDer::from_pem_slice(&pem)
        .map_err(|_| unusable("“client-key-data” holds no private key in PEM form"))?;
    Ok(Some(Identity { chain, key }))
}
