//! Fields that are checked while they are read, so that a mistake is named with its line.

use serde::Deserialize;
use serde::de::Deserializer;

/// The deserializer's error, in words.
fn wrong<E: serde::de::Error>(why: impl std::fmt::Display) -> E {
    E::custom(why)
}

/// Text that is not blank.
pub fn filled<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(wrong("this must not be empty or hold control characters"));
    }
    Ok(text)
}

/// Scopes: without `openid` there is no id token, and so no verified person.
pub fn scopes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let scopes = Vec::<String>::deserialize(deserializer)?;
    // RFC 6749, 3.3: a scope has no blanks; a list written as one string is a common slip.
    if scopes.iter().any(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
        return Err(wrong("each scope is a string of its own, without blanks"));
    }
    if !scopes.is_empty() && !scopes.iter().any(|scope| scope == "openid") {
        return Err(wrong("the scopes have to include openid"));
    }
    Ok(scopes)
}

/// The redirect's host: loopback, in one of the spellings that the listener answers to.
pub fn redirect_host<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let host = String::deserialize(deserializer)?;
    match host.as_str() {
        "127.0.0.1" | "localhost" => Ok(Some(host)),
        _ => Err(wrong("the browser can come back to 127.0.0.1 or localhost only")),
    }
}

/// Ports of the redirect.
pub fn ports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u16>, D::Error> {
    let ports = Vec::<u16>::deserialize(deserializer)?;
    if ports.contains(&0) {
        return Err(wrong("port 0 cannot be registered; leave redirect_ports out to use any free port"));
    }
    Ok(ports)
}

/// A path inside the KMS: a mount. Servers resolve `..` and `//` and answer with a redirect elsewhere.
pub fn mount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let path = String::deserialize(deserializer)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let good = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(plain);
    if !path.split('/').all(good) {
        return Err(wrong(format!(
            "“{path}” is not a mount: letters, digits, '-', '_' and '.', in parts divided by single slashes"
        )));
    }
    Ok(path)
}

/// A role; `{org}` is the only placeholder.
pub fn role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let role = filled(deserializer)?;
    if role.replace("{org}", "").contains(['{', '}']) {
        return Err(wrong("{org} is the only placeholder of a role"));
    }
    Ok(role)
}

/// Certificates in PEM form.
pub fn pem<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject as _;
    let text = String::deserialize(deserializer)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match all {
        Ok(all) if !all.is_empty() => {}
        _ => return Err(wrong("this holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)")),
    }
    if text.contains("PRIVATE KEY") {
        return Err(wrong("this holds a private key; only certificates belong in a deployment file"));
    }
    Ok(Some(text))
}
