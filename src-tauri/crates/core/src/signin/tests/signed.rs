//! Keys made here and tokens signed with them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PKCS_RSA_SHA256, RsaKeySize};
use serde_json::{Value, json};

/// A private key and what a provider publishes of it.
pub struct Signer {
    pub encoding: EncodingKey,
    pub algorithm: Algorithm,
    pub jwk: Jwk,
}

impl Signer {
    /// A fresh key for an algorithm, under this id.
    pub fn new(algorithm: Algorithm, kid: &str) -> Self {
        let pair = match algorithm {
            Algorithm::ES256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256),
            Algorithm::EdDSA => KeyPair::generate_for(&PKCS_ED25519),
            _ => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048),
        };
        let pair = pair.expect("a key");
        let pem = pair.serialize_pem();
        let (encoding, jwk) = match algorithm {
            Algorithm::ES256 => (EncodingKey::from_ec_pem(pem.as_bytes()), None),
            // The library makes a public half of the older form of private keys only.
            Algorithm::EdDSA => {
                let x = URL_SAFE_NO_PAD.encode(pair.public_key_raw());
                let jwk = json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "x": x});
                (EncodingKey::from_ed_pem(pem.as_bytes()), serde_json::from_value(jwk).ok())
            }
            _ => (EncodingKey::from_rsa_pem(pem.as_bytes()), None),
        };
        let encoding = encoding.expect("it is of the algorithm");
        let mut jwk: Jwk =
            jwk.unwrap_or_else(|| Jwk::from_encoding_key(&encoding, algorithm).expect("a public half"));
        jwk.common.key_id = Some(kid.to_owned());
        Self { encoding, algorithm, jwk }
    }

    /// The claims, signed.
    pub fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid.clone_from(&self.jwk.common.key_id);
        self.sign_with(&header, claims)
    }

    /// The claims, signed under a header of the caller's.
    pub fn sign_with(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &self.encoding).expect("it can be signed")
    }
}

/// A token of parts as they are.
pub fn forged(header: &Value, claims: &Value, signature: &[u8]) -> String {
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    format!(
        "{}.{}.{}",
        part(header.to_string().as_bytes()),
        part(claims.to_string().as_bytes()),
        part(signature)
    )
}
