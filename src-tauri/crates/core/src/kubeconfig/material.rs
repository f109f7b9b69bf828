//! A `-data` field: base64 of PEM text, read as kubectl reads it and written out anew in one canonical form.
//!
//! Deliberately absent: what the PEM text holds. That is [`super::certificate`] and [`super::key`].

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use zeroize::Zeroizing;

use super::refusal::Refusal;

/// What stands in place of a secret: `kubectl config view` prints these without `--raw`.
const REDACTIONS: [&str; 3] = ["DATA+OMITTED", "REDACTED", "DATA OMITTED"];

/// Go's decoder, and so kubectl, does not mind stray bits in the last character.
const AS_KUBECTL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Refuses the placeholders that stand where a secret was left out.
pub fn not_redacted(field: &'static str, value: &str) -> Result<(), Refusal> {
    match REDACTIONS.iter().find(|marker| value == **marker) {
        Some(marker) => Err(Refusal::Redacted { field, marker }),
        None => Ok(()),
    }
}

/// The bytes of a `-data` field. White space inside the base64 is allowed, as kubectl allows line breaks.
pub fn decode(field: &'static str, value: &str) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    not_redacted(field, value)?;
    let mut compact = Zeroizing::new(String::with_capacity(value.len()));
    value.split_ascii_whitespace().for_each(|part| compact.push_str(part));
    AS_KUBECTL.decode(compact.as_bytes()).map(Zeroizing::new).map_err(|_| Refusal::BadBase64 { field })
}

/// A `-data` field that holds these DER structures and nothing else.
pub fn encode<'a>(label: &str, ders: impl Iterator<Item = &'a [u8]> + Clone) -> Zeroizing<String> {
    // Room for everything at once, so that no growth leaves an unwiped copy of a key behind.
    let room = ders.clone().map(|der| der.len() * 3 / 2 + 2 * label.len() + 64).sum();
    let mut pem = Zeroizing::new(String::with_capacity(room));
    for der in ders {
        let body = Zeroizing::new(STANDARD.encode(der));
        for part in ["-----BEGIN ", label, "-----\n"] {
            pem.push_str(part);
        }
        for line in body.as_bytes().chunks(64) {
            pem.extend(line.iter().copied().map(char::from));
            pem.push('\n');
        }
        for part in ["-----END ", label, "-----\n"] {
            pem.push_str(part);
        }
    }
    Zeroizing::new(STANDARD.encode(pem.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(value: &str) -> Option<Vec<u8>> {
        decode("field", value).ok().map(|bytes| bytes.to_vec())
    }

    #[test]
    fn base64_is_read_as_kubectl_reads_it() {
        assert_eq!(decoded("bXVzdGVy").as_deref(), Some(b"muster".as_slice()));
        assert_eq!(
            decoded("bXVz\r\n  dGVy\n").as_deref(),
            Some(b"muster".as_slice()),
            "wrapped and indented"
        );
        assert_eq!(decoded("bXVzdGU=").as_deref(), Some(b"muste".as_slice()));
        assert_eq!(decoded("bXVzdGV=").as_deref(), Some(b"muste".as_slice()), "stray bits");
        for value in
            ["bXVzdGU", "bXVzdGVy-", "<base64>", "bXVzdGVy=", "-----BEGIN", "bXVz*GVy", "bXVz\u{a0}dGVy"]
        {
            assert_eq!(decoded(value), None, "{value}");
        }
    }

    #[test]
    fn an_encoded_field_takes_no_more_room_than_was_set_aside() {
        for len in [0, 1, 47, 48, 49, 1000] {
            let der = vec![7u8; len];
            let pem = decode("field", &encode("RSA PRIVATE KEY", std::iter::once(der.as_slice())));
            let pem = pem.expect("it is base64");
            assert!(
                pem.len() <= len * 3 / 2 + 2 * "RSA PRIVATE KEY".len() + 64,
                "{len} bytes took {}",
                pem.len()
            );
        }
    }
}
