//! Server and proxy addresses: what can be dialled at all, and literal addresses against the endpoint policy.
//!
//! Deliberately absent: resolving names. The dialler judges what a name resolves to, at the moment it dials.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use super::refusal::{Refusal, printable};
use crate::endpoint::EndpointPolicy;

/// Judges a cluster's `server`.
pub fn server(value: Option<&str>, policy: EndpointPolicy) -> Result<Url, Vec<Refusal>> {
    let bad = |why: &str| vec![Refusal::BadServer { why: why.to_owned() }];
    let Some(value) = value else { return Err(bad("it is missing")) };
    let Ok(url) = Url::parse(value) else {
        let why = if value.contains("://") {
            "it is not a URL with a host"
        } else {
            "it does not begin with https://"
        };
        return Err(bad(why));
    };
    let mut refusals = Vec::new();
    match url.scheme() {
        "https" => {}
        "http" => refusals.push(Refusal::NotHttps),
        _ => return Err(bad("it does not begin with https://")),
    }
    if matches!(url.host_str(), None | Some("" | "https" | "http")) {
        return Err(bad("it has no host, or https:// twice"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        refusals.extend(bad("it has a query or a fragment"));
    }
    if url.path().split('/').any(|segment| segment == ".." || segment.eq_ignore_ascii_case("%2e%2e")) {
        refusals.extend(bad("its path climbs upwards"));
    }
    refusals.extend(userinfo(&url, "server address"));
    refusals.extend(literal(&url, "server", policy));
    if refusals.is_empty() { Ok(url) } else { Err(refusals) }
}

/// Judges a cluster's `proxy-url`: what it is reached at is dialled by Muster, so the policy holds for it too.
pub fn proxy(value: Option<&str>, policy: EndpointPolicy) -> Result<Option<Url>, Vec<Refusal>> {
    let Some(value) = value else { return Ok(None) };
    let bad = |why: &str| vec![Refusal::BadProxy { why: why.to_owned() }];
    let Ok(url) = Url::parse(value) else { return Err(bad("it is not a URL")) };
    if !matches!(url.scheme(), "http" | "socks5") {
        return Err(bad("only http:// and socks5:// proxies are used"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(bad("it has no host"));
    }
    let mut refusals: Vec<_> = userinfo(&url, "proxy address").into_iter().collect();
    refusals.extend(literal(&url, "proxy", policy));
    if refusals.is_empty() { Ok(Some(url)) } else { Err(refusals) }
}

fn userinfo(url: &Url, what: &'static str) -> Option<Refusal> {
    (!url.username().is_empty() || url.password().is_some()).then_some(Refusal::Userinfo { what })
}

/// URL parsing has already turned every spelling of an IPv4 address (decimal, octal, hexadecimal, short) into one.
/// Schemes it does not treat specially keep a domain, so that is parsed once more.
fn literal(url: &Url, what: &'static str, policy: EndpointPolicy) -> Option<Refusal> {
    let address = match url.host()? {
        Host::Ipv4(v4) => IpAddr::V4(v4),
        Host::Ipv6(v6) => IpAddr::V6(v6),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            if name == "localhost" || name.ends_with(".localhost") {
                IpAddr::V4(Ipv4Addr::LOCALHOST)
            } else {
                match Url::parse(&format!("http://{name}/")).ok()?.host()? {
                    Host::Ipv4(v4) => IpAddr::V4(v4),
                    _ => return None,
                }
            }
        }
    };
    policy.permit(address).err().map(|refused| Refusal::AddressRefused {
        what,
        address,
        class: refused.class,
    })
}

/// `host:port`, for people; the port is always named.
pub fn endpoint(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    printable(&format!("{host}:{}{path}", url.port_or_known_default().unwrap_or(443)))
}
