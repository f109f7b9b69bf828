//! An identity provider's signing key, and the tokens that it signs.

use async_trait::async_trait;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use muster_core::kms::{IdentityTokens, KmsError};
use serde_json::json;
use zeroize::Zeroizing;

/// A P-256 key, made for one test.
pub struct Issuer {
    signing: EncodingKey,
    /// The public half, in PEM form.
    pub public_pem: String,
}

impl Issuer {
    pub fn new() -> Self {
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        Self {
            signing: EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).unwrap(),
            public_pem: pair.public_key_pem(),
        }
    }

    /// A token of this person in this org, good for five minutes.
    pub fn token(&self, subject: &str, org: &str) -> String {
        let now = jiff::Timestamp::now().as_second();
        let claims = json!({
            "iss": "https://idp.test", "aud": "kms", "sub": subject, "org": org, "iat": now, "exp": now + 300,
        });
        encode(&Header::new(Algorithm::ES256), &claims, &self.signing).unwrap()
    }
}

/// Hands out one token, again and again.
pub struct Always(pub String);

#[async_trait]
impl IdentityTokens for Always {
    async fn current(&self) -> Result<Zeroizing<String>, KmsError> {
        Ok(Zeroizing::new(self.0.clone()))
    }
}
