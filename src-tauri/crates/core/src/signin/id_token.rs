//! Checking an id token: OpenID Connect Core 1.0, section 3.1.3.7, and what practice adds to it.
//!
//! Invariant: a [`VerifiedIdToken`] is made by [`verify`] only, so whoever holds one knows that the signature, the
//! issuer, the audience, the times and the nonce were checked. Deliberately absent: trust in the token's own header.
//! Its algorithm has to be one of [`ALLOWED`], one that the provider names, and one that the key is of. `jku`, `x5u` and
//! the like are never looked at. Audiences beside us are let pass where `azp` names us: providers (Zitadel) list a whole
//! project's there.

use at_hash::half_hash;
use jiff::Timestamp;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

use super::error::SignInError;

/// Asymmetric algorithms only: `none` and HMAC with a public key never pass.
pub const ALLOWED: [Algorithm; 4] = [Algorithm::RS256, Algorithm::ES256, Algorithm::PS256, Algorithm::EdDSA];

/// How far two clocks may differ, in seconds.
pub const SKEW: i64 = 60;

/// What `nonce` has to be.
#[derive(Clone, Copy)]
pub enum Nonce<'a> {
    /// This one: the token answers an attempt of ours.
    Of(&'a str),
    /// Absent or this one: a refreshed token may repeat the first one's (OpenID Connect Core 1.0, section 12.2).
    Repeats(Option<&'a str>),
    /// Anything: a refreshed token of a session whose first one is no longer known.
    Unknown,
}

/// What the token has to say.
pub struct Expected<'a> {
    /// The issuer, letter for letter.
    pub issuer: &'a str,
    /// Our client id.
    pub client_id: &'a str,
    /// The nonce.
    pub nonce: Nonce<'a>,
    /// Algorithms that the provider names; empty where it names none.
    pub algorithms: &'a [String],
    /// The access token that came with it, for `at_hash`.
    pub access_token: Option<&'a str>,
    /// Now.
    pub now: Timestamp,
    /// Provider's clock minus ours, for the message only.
    pub skew_seconds: i64,
}

/// Claims out of a token that passed every check.
#[derive(Clone)]
pub struct VerifiedIdToken {
    claims: Map<String, Value>,
    issuer: String,
    subject: String,
    expires: Timestamp,
}

impl VerifiedIdToken {
    /// Every claim.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// `iss`.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// `sub`.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// `nonce`.
    pub fn nonce(&self) -> Option<&str> {
        self.claims.get("nonce").and_then(Value::as_str)
    }

    /// `exp`.
    pub fn expires(&self) -> Timestamp {
        self.expires
    }

    /// A name for people.
    pub fn display_name(&self) -> &str {
        ["name", "preferred_username", "email"]
            .into_iter()
            .find_map(|claim| self.claims.get(claim)?.as_str().filter(|name| !name.trim().is_empty()))
            .unwrap_or(&self.subject)
    }
}

/// The key id that a token names, to look the key up by.
///
/// # Errors
/// [`SignInError::Untrusted`] where it is no signed token.
pub fn key_id(token: &str) -> Result<Option<String>, SignInError> {
    let header = decode_header(token).map_err(|_| untrusted("it is not a signed token"))?;
    Ok(header.kid)
}

/// Checks a token against a key of the provider's.
///
/// # Errors
/// [`SignInError::Untrusted`] or [`SignInError::ClockSkew`].
pub fn verify(token: &str, key: &Jwk, expected: &Expected<'_>) -> Result<VerifiedIdToken, SignInError> {
    let header = decode_header(token).map_err(|_| untrusted("it is not a signed token"))?;
    let algorithm = ALLOWED
        .into_iter()
        .find(|allowed| *allowed == header.alg)
        .filter(|allowed| {
            expected.algorithms.is_empty() || expected.algorithms.iter().any(|a| *a == name(*allowed))
        })
        .ok_or_else(|| untrusted("it is signed with an algorithm that is not allowed"))?;
    // RFC 7517, 4.4: a key that names its algorithm is for that one only.
    if key.common.key_algorithm.is_some_and(|of_key| of_key.to_string() != name(algorithm)) {
        return Err(untrusted("its key is for another algorithm"));
    }
    let key = DecodingKey::from_jwk(key).map_err(|_| untrusted("the provider's key cannot be used"))?;
    let mut validation = Validation::new(algorithm);
    // Times and audience are checked below, by the clock that was passed in and more strictly.
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    let claims = decode::<Map<String, Value>>(token, &key, &validation)
        .map_err(|_| untrusted("its signature is wrong"))?
        .claims;
    check(claims, expected, algorithm)
}

fn check(
    claims: Map<String, Value>,
    expected: &Expected<'_>,
    algorithm: Algorithm,
) -> Result<VerifiedIdToken, SignInError> {
    let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
    let instant = |claim: &str| claims.get(claim).and_then(Value::as_f64);
    if text("iss") != Some(expected.issuer) {
        return Err(untrusted("it comes from another issuer"));
    }
    check_audience(&claims, expected.client_id)?;
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^52")]
    let now = expected.now.as_second() as f64;
    #[expect(clippy::cast_precision_loss, reason = "a constant")]
    let skew = SKEW as f64;
    let skewed = |why: &str| match expected.skew_seconds {
        seconds if seconds.abs() > SKEW => SignInError::ClockSkew { seconds },
        _ => untrusted(why),
    };
    let exp = instant("exp").ok_or_else(|| untrusted("it does not say when it expires"))?;
    if exp + skew <= now {
        return Err(skewed("it has expired"));
    }
    let iat = instant("iat").ok_or_else(|| untrusted("it does not say when it was issued"))?;
    if iat - skew > now {
        return Err(skewed("it was issued in the future"));
    }
    // A claim that is there and of another kind than it has to be is no absence.
    match claims.get("nbf").map(Value::as_f64) {
        None => {}
        Some(Some(nbf)) if nbf - skew <= now => {}
        Some(Some(_)) => return Err(skewed("it is not valid yet")),
        Some(None) => return Err(untrusted("it does not say from when on it is valid")),
    }
    let nonce_is_right = match (expected.nonce, claims.get("nonce")) {
        (Nonce::Of(wanted), Some(Value::String(nonce))) => nonce == wanted,
        (Nonce::Repeats(first), Some(nonce)) => nonce.as_str().is_some_and(|nonce| Some(nonce) == first),
        (Nonce::Of(_), _) => false,
        (Nonce::Repeats(_), None) | (Nonce::Unknown, _) => true,
    };
    if !nonce_is_right {
        return Err(untrusted("it answers another attempt"));
    }
    if let (Some(hash), Some(token)) = (claims.get("at_hash"), expected.access_token)
        && half_hash(algorithm, token).is_some_and(|wanted| hash.as_str() != Some(&wanted))
    {
        return Err(untrusted("it belongs to another access token"));
    }
    let subject =
        text("sub").filter(|sub| !sub.is_empty()).ok_or_else(|| untrusted("it names nobody"))?.to_owned();
    #[expect(clippy::cast_possible_truncation, reason = "saturating; an impossible date is refused")]
    let expires = Timestamp::from_second(exp as i64).map_err(|_| untrusted("its expiry is no date"))?;
    Ok(VerifiedIdToken { issuer: expected.issuer.to_owned(), subject, expires, claims })
}

fn check_audience(claims: &Map<String, Value>, client_id: &str) -> Result<(), SignInError> {
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().map(|one| one.as_str().unwrap_or_default()).collect(),
        _ => Vec::new(),
    };
    if !audiences.contains(&client_id) {
        return Err(untrusted("it was made for another program"));
    }
    // With several audiences `azp` has to be there; whenever it is there it has to be us.
    match claims.get("azp") {
        None if audiences.len() == 1 => Ok(()),
        Some(Value::String(authorised)) if authorised == client_id => Ok(()),
        _ => Err(untrusted("it was handed to another program")),
    }
}

fn name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::RS256 => "RS256",
        Algorithm::ES256 => "ES256",
        Algorithm::PS256 => "PS256",
        Algorithm::EdDSA => "EdDSA",
        _ => "",
    }
}

fn untrusted(why: &str) -> SignInError {
    SignInError::Untrusted { why: why.to_owned() }
}

/// `at_hash`: the left half of the access token's hash, by the hash of the token's own algorithm.
mod at_hash {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use jsonwebtoken::Algorithm;
    use sha2::{Digest, Sha256};

    /// `None` for EdDSA, whose hash depends on the curve and which providers leave out or spell differently.
    pub fn half_hash(algorithm: Algorithm, token: &str) -> Option<String> {
        match algorithm {
            Algorithm::RS256 | Algorithm::ES256 | Algorithm::PS256 => {
                let digest = Sha256::digest(token.as_bytes());
                Some(URL_SAFE_NO_PAD.encode(&digest[..16]))
            }
            _ => None,
        }
    }
}
