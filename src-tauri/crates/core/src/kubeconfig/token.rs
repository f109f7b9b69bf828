//! A bearer token: whether a request can carry it, and until when it says that it is good.
//!
//! Deliberately absent: verifying it. The API server does that; the dates are read to tell the person in time.

use base64::Engine as _;
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::material;
use super::refusal::Refusal;

/// Refuses what no `Authorization` header can carry (RFC 9110 section 5.5, without white space: the API server splits
/// the header there), and placeholders of templates that were never filled in.
pub fn usable(token: &str) -> Result<(), Refusal> {
    material::not_redacted("token", token)?;
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Refusal::BadToken {
            why: "it has white space, control or non-ASCII characters inside it",
        });
    }
    let placeholder = [("<", ">"), ("${", "}"), ("$(", ")"), ("{{", "}}")]
        .iter()
        .any(|(open, close)| token.starts_with(open) && token.ends_with(close));
    if placeholder {
        return Err(Refusal::BadToken { why: "it is a placeholder that was never filled in" });
    }
    Ok(())
}

/// When a token that is a JWT begins and ends (RFC 7519 `nbf` and `exp`). A token of another kind does not say.
pub fn window(token: &str) -> (Option<Timestamp>, Option<Timestamp>) {
    payload(token).map_or((None, None), |claims| (claims.nbf.and_then(instant), claims.exp.and_then(instant)))
}

#[derive(serde::Deserialize)]
struct Claims {
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    exp: Option<f64>,
}

fn payload(token: &str) -> Option<Claims> {
    let parts: Vec<&str> = token.split('.').collect();
    let [_, payload, _] = parts[..] else { return None };
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let json = Zeroizing::new(engine.decode(payload.trim_end_matches('=')).ok()?);
    serde_json::from_slice(&json).ok()
}

/// Seconds with a fraction are legal (RFC 7519 NumericDate); they are rounded down.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and what is out of range becomes the end of time"
)]
fn instant(seconds: f64) -> Option<Timestamp> {
    let seconds = if seconds.is_nan() { return None } else { seconds.floor() as i64 };
    Some(Timestamp::from_second(seconds).unwrap_or(if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jwt(payload: &str) -> String {
        format!("e30.{}.c2ln", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(payload))
    }

    fn at(second: i64) -> Option<Timestamp> {
        Timestamp::from_second(second).ok()
    }

    #[test]
    fn a_jwt_says_when_it_ends_in_every_legal_spelling() {
        assert_eq!(window(&jwt(r#"{"exp":1700000000}"#)), (None, at(1_700_000_000)));
        assert_eq!(
            window(&jwt(r#"{"exp":1.7e9,"nbf":1699999999.9}"#)),
            (at(1_699_999_999), at(1_700_000_000))
        );
        assert_eq!(window(&jwt(r#"{"exp":99999999999999}"#)), (None, Some(Timestamp::MAX)));
        assert_eq!(window(&jwt(r#"{"exp":-1}"#)), (None, at(-1)));
    }

    #[test]
    fn a_token_of_another_kind_does_not_say_when_it_ends() {
        for token in [
            "abc",
            "a.b.c",
            "a.b.c.d.e",
            "..",
            &jwt("[]"),
            &jwt(r#"{"exp":"soon"}"#),
            &jwt("{}"),
            &jwt(r#"{"exp":null}"#),
        ] {
            assert_eq!(window(token), (None, None), "{token}");
        }
    }

    #[test]
    fn a_token_that_no_header_can_carry_is_refused() {
        for token in
            ["a b", "a\nb", "a\u{7f}", "gehëim", "<token>", "${TOKEN}", "{{ token }}", "$(TOKEN)", "REDACTED"]
        {
            assert!(usable(token).is_err(), "{token:?}");
        }
        for token in ["abc123.def-_~+/==", "a<b>", "k8s-aws-v1.aHR0", "{}", "\"quoted\""] {
            assert_eq!(usable(token), Ok(()), "{token:?}");
        }
    }
}
