//! Server and proxy addresses: what can be dialled at all, and literal addresses against the endpoint policy.
//!
//! Deliberately absent: resolving names. The dialler judges what a name resolves to, at the moment it dials.

use std::net::{IpAddr, Ipv4Addr};

use rustls_pki_types::ServerName;
use url::{Host, Url};

use super::printable::printable;
use super::refusal::Refusal;
use crate::endpoint::EndpointPolicy;

/// Judges a cluster's `server`.
pub fn server(value: Option<&str>, policy: EndpointPolicy) -> Result<Url, Vec<Refusal>> {
    let bad = |why: &str| vec![Refusal::BadServer { why: why.to_owned() }];
    let Some(value) = value else { return Err(bad("it is missing")) };
    let url = parse(value).map_err(bad)?;
    let mut refusals = Vec::new();
    match url.scheme() {
        "https" => {}
        "http" => refusals.push(Refusal::NotHttps),
        _ => return Err(bad("it does not begin with https://")),
    }
    if matches!(url.host_str(), Some("https" | "http")) {
        return Err(bad("it begins with https:// twice"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        refusals.extend(bad("it has a query or a fragment"));
    }
    refusals.extend(userinfo(&url, "server address"));
    refusals.extend(literal(&url, "server", policy));
    if refusals.is_empty() { Ok(url) } else { Err(refusals) }
}

/// Judges a cluster's `proxy-url`: Muster dials it, so the policy holds for it too.
pub fn proxy(value: Option<&str>, policy: EndpointPolicy) -> Result<Option<Url>, Vec<Refusal>> {
    let Some(value) = value else { return Ok(None) };
    let bad = |why: &str| vec![Refusal::BadProxy { why: why.to_owned() }];
    let url = parse(value).map_err(bad)?;
    if !matches!(url.scheme(), "http" | "socks5") {
        return Err(bad("only http:// and socks5:// proxies are used"));
    }
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it has more than a host and a port"));
    }
    let mut refusals: Vec<_> = userinfo(&url, "proxy address").into_iter().collect();
    refusals.extend(literal(&url, "proxy", policy));
    if refusals.is_empty() { Ok(Some(url)) } else { Err(refusals) }
}

/// A URL with a host that a name server or a certificate could know.
fn parse(value: &str) -> Result<Url, &'static str> {
    // URL parsing drops tabs and line breaks, so that what is dialled would not be what stands in the file.
    if value.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("it has white space or control characters inside it");
    }
    // A backslash would count as a slash, and what is left of it for the host.
    if value.contains('\\') {
        return Err("it has a backslash inside it");
    }
    let Some((scheme, _)) = value.split_once("://") else {
        return Err("it does not begin with a scheme and ://, such as https://");
    };
    let url = Url::parse(value).map_err(|_| "it is not a URL with a host")?;
    // URL parsing takes all the slashes after a scheme it knows, so `https:///x` would name the host x.
    if value[scheme.len() + 3..].starts_with('/') || host(&url).is_none() {
        return Err("it has no host that can be dialled");
    }
    if url.port() == Some(0) {
        return Err("port 0 is no port");
    }
    Ok(url)
}

/// The host as what is dialled. URL parsing has already turned every spelling of an IPv4 address (decimal, octal,
/// hexadecimal, short) into one; for schemes it does not treat specially it keeps a name, so that is parsed once more.
fn host(url: &Url) -> Option<Host> {
    let host = match url.host()? {
        Host::Domain(name) => Host::parse(name).ok()?,
        Host::Ipv4(address) => Host::Ipv4(address),
        Host::Ipv6(address) => Host::Ipv6(address),
    };
    match &host {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.')).ok().map(|_| ()),
        Host::Ipv4(_) | Host::Ipv6(_) => Some(()),
    }?;
    Some(host)
}

fn userinfo(url: &Url, what: &'static str) -> Option<Refusal> {
    (!url.username().is_empty() || url.password().is_some()).then_some(Refusal::Userinfo { what })
}

/// Names that mean this computer wherever they are resolved (RFC 6761 section 6.3, and what systems write into their
/// hosts file).
const THIS_COMPUTER: [&str; 5] =
    ["localhost", "localhost.localdomain", "localhost6", "ip6-localhost", "ip6-loopback"];
/// Names of instance metadata services: Google, EC2, Alibaba, Tencent. A proxy would resolve them out of our sight.
const METADATA: [&str; 5] = [
    "metadata.google.internal",
    "metadata.goog",
    "instance-data.ec2.internal",
    "metadata.aliyun.com",
    "metadata.tencentyun.com",
];
const METADATA_ADDRESS: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

fn literal(url: &Url, what: &'static str, policy: EndpointPolicy) -> Option<Refusal> {
    let address = match host(url)? {
        Host::Ipv4(v4) => IpAddr::V4(v4),
        Host::Ipv6(v6) => IpAddr::V6(v6),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            if THIS_COMPUTER.contains(&name.as_str()) || name.ends_with(".localhost") {
                IpAddr::V4(Ipv4Addr::LOCALHOST)
            } else if METADATA.contains(&name.as_str()) {
                IpAddr::V4(METADATA_ADDRESS)
            } else {
                return None;
            }
        }
    };
    policy.permit(address).err().map(|refused| Refusal::AddressRefused { what, refused })
}

/// Judges a cluster's `tls-server-name`.
pub fn tls_server_name(value: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    match ServerName::try_from(value) {
        Ok(_) => Ok(Some(value.to_owned())),
        Err(_) => Err(Refusal::BadTlsServerName),
    }
}

/// What a `server` names, for people, where it names a host at all.
pub fn shown(value: &str) -> Option<Url> {
    let url = parse(value).ok().filter(|url| matches!(url.scheme(), "https" | "http"))?;
    (!matches!(url.host_str(), Some("https" | "http"))).then_some(url)
}

/// `host:port` and the path, for people; the port is always named, and nothing else of the URL.
pub fn endpoint(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let default = if url.scheme() == "socks5" { 1080 } else { 443 };
    printable(&format!("{host}:{}{path}", url.port_or_known_default().unwrap_or(default)))
}
