//! What a status, a content type and an error body mean.
//!
//! Invariant: a body is looked at only after its status and content type; a redirect's body and a portal's page never
//! are. Of an error body only the `message` of a Kubernetes `Status` is kept, bounded and printable, and never where it
//! repeats the credential.

use std::time::Duration;

use http::header::{CONTENT_TYPE, DATE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use hyper::body::Incoming;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::ReadError;
use super::body::Body;
use super::client::Shared;
use crate::kubeconfig::printable;

/// Clocks nearer to each other than this are not worth a word; certificates and tokens live with more.
const SKEW_WORTH_SAYING: SignedDuration = SignedDuration::from_mins(2);
/// An error body longer than this is no `Status`.
const ERROR_BODY_LIMIT: u64 = 64 * 1024;

/// Lets a good answer pass, and turns every other one into its error. Good is JSON; where `wants_text`, plain text.
pub async fn checked(
    shared: &Shared,
    path: &str,
    wants_text: bool,
    response: Response<Incoming>,
) -> Result<Response<Incoming>, ReadError> {
    let status = response.status();
    let server = shared.server.clone();
    let content_type = content_type(response.headers());
    if status.is_redirection() {
        let to = redirect_host(response.headers());
        return Err(ReadError::Redirected { server, to });
    }
    let is_json = is_json(response.headers());
    let is_wanted = if wants_text { content_type.starts_with("text/plain") } else { is_json };
    if status.is_success() && is_wanted {
        return Ok(response);
    }
    // API servers answer some errors in plain text (an unknown path, too many requests); a page in HTML is somebody
    // else's. What is overloaded or broken on the way may be a load balancer, and its page says nothing more.
    let may_be_kubernetes = is_json || (!status.is_success() && content_type.starts_with("text/plain"));
    let is_fault = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    if !may_be_kubernetes && !is_fault {
        return Err(ReadError::NotKubernetes { server, status: status.as_u16(), content_type });
    }
    let headers = response.headers().clone();
    let message = message(shared, response, is_json).await.unwrap_or_else(|| reason(status));
    let now = server_time(&headers).unwrap_or_else(|| shared.clock.now());
    Err(match status {
        StatusCode::UNAUTHORIZED => {
            ReadError::Unauthorized { server, skew: skew(&headers, shared.clock.now()) }
        }
        StatusCode::FORBIDDEN => ReadError::Forbidden { server, message },
        StatusCode::NOT_FOUND => ReadError::NotFound { server, what: path.to_owned() },
        StatusCode::GONE => ReadError::Gone { server },
        StatusCode::TOO_MANY_REQUESTS => {
            ReadError::RateLimited { server, retry_after: retry_after(&headers, now) }
        }
        _ if status.is_server_error() => ReadError::Server { server, status: status.as_u16(), message },
        _ => ReadError::Rejected { server, status: status.as_u16(), message },
    })
}

fn reason(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or("no reason given").to_owned()
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.map_or_else(|| "no content type".to_owned(), |value| printable(value.trim()).to_ascii_lowercase())
}

fn is_json(headers: &HeaderMap) -> bool {
    content_type(headers).split(';').next().is_some_and(|kind| kind.trim() == "application/json")
}

/// The host of a `Location`, and nothing more of it: the rest may hold a portal's one-time codes.
fn redirect_host(headers: &HeaderMap) -> String {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match url::Url::parse(location) {
        Ok(url) => printable(url.host_str().unwrap_or("a place without a host")),
        Err(_) if location.starts_with("//") => {
            printable(location.trim_start_matches('/').split(['/', '?', '#']).next().unwrap_or_default())
        }
        Err(_) if location.is_empty() => "nowhere".into(),
        Err(_) => "another path on the same host".into(),
    }
}

async fn message(shared: &Shared, response: Response<Incoming>, is_json: bool) -> Option<String> {
    #[derive(Deserialize)]
    struct Status {
        message: Option<String>,
    }
    if !is_json {
        return None;
    }
    let body = Body::new(shared, response, ERROR_BODY_LIMIT).ok()?;
    // A body that never ends costs its budget and the message, not the verdict of the status.
    let bytes = body.collect().await.ok()?;
    let message = serde_json::from_slice::<Status>(&bytes).ok()?.message?;
    Some(without_credential(&message, shared.authorization.as_ref())).filter(|text| !text.is_empty())
}

/// Some gateways repeat request headers in their errors.
fn without_credential(message: &str, authorization: Option<&HeaderValue>) -> String {
    let token =
        authorization.and_then(|header| header.to_str().ok()).map(|h| h.trim_start_matches("Bearer "));
    match token {
        Some(token) if !token.is_empty() && message.contains(token) => {
            "(the server's message repeats the credential and is not shown)".into()
        }
        _ => printable(message.trim()),
    }
}

/// `Retry-After` as seconds or as a date (RFC 9110, section 10.2.3), counted from the server's own clock.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

fn server_time(headers: &HeaderMap) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(headers.get(DATE)?.to_str().ok()?).ok()
}

/// How far the server's clock is ahead of ours, where that is worth saying.
pub fn skew(headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    let skew = server_time(headers)?.duration_since(now);
    (skew.abs() >= SKEW_WORTH_SAYING).then(|| skew.round(jiff::Unit::Second).unwrap_or(skew))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(http::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("a header"))).collect()
    }

    #[test]
    fn retry_after_is_read_as_seconds_as_a_date_and_as_nothing() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("an instant");
        let read = |value: &str| retry_after(&headers(&[(RETRY_AFTER, value)]), now);
        assert_eq!(read("3"), Some(Duration::from_secs(3)));
        assert_eq!(read("86400"), Some(Duration::from_secs(86_400)));
        assert_eq!(read("Sun, 01 Mar 2026 12:00:20 GMT"), Some(Duration::from_secs(20)));
        assert_eq!(read("Sun, 01 Mar 2026 11:00:00 GMT"), Some(Duration::ZERO), "a date that is over");
        assert_eq!(read("soon"), None);
    }

    #[test]
    fn a_small_difference_of_clocks_is_not_mentioned() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("an instant");
        let skew_of = |date: &str| skew(&headers(&[(DATE, date)]), now);
        assert_eq!(skew_of("Sun, 01 Mar 2026 12:01:00 GMT"), None);
        assert_eq!(skew_of("Sun, 01 Mar 2026 18:00:00 GMT"), Some(SignedDuration::from_hours(6)));
        assert_eq!(skew_of("Sun, 01 Mar 2026 11:50:00 GMT"), Some(SignedDuration::from_mins(-10)));
        assert_eq!(skew_of("tomorrow"), None);
    }

    #[test]
    fn a_redirect_tells_its_host_and_nothing_else() {
        let to = |location: &str| redirect_host(&headers(&[(LOCATION, location)]));
        assert_eq!(to("https://portal.example:8443/login?code=s3cret"), "portal.example");
        assert_eq!(to("//portal.example/login?code=s3cret"), "portal.example");
        assert_eq!(to("/login?code=s3cret"), "another path on the same host");
        assert_eq!(to(""), "nowhere");
    }

    #[test]
    fn a_message_that_repeats_the_token_is_withheld() {
        let header = HeaderValue::from_static("Bearer canary-token");
        let said = without_credential("bad header: Bearer canary-token", Some(&header));
        assert!(!said.contains("canary"), "{said}");
        assert_eq!(without_credential("no\u{1b}[31m", Some(&header)), "no\\u{1b}[31m");
    }
}
