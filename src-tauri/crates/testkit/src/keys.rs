//! The provider's signing key: P-256, made at start, never written.

use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde_json::{Map, Value};

use crate::DemoError;

/// Signs and verifies ES256.
#[derive(Clone)]
pub struct SigningKey {
    encoding: EncodingKey,
    jwk: Jwk,
}

/// The one key's id.
const KID: &str = "demo-es256";

impl SigningKey {
    /// Makes a key.
    ///
    /// # Errors
    /// Where the cryptography library cannot.
    pub fn generate() -> Result<Self, DemoError> {
        let pair =
            rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(DemoError::certificate)?;
        let encoding = EncodingKey::from_ec_der(&pair.serialize_der());
        let mut jwk = Jwk::from_encoding_key(&encoding, Algorithm::ES256)
            .map_err(|error| DemoError::Start(error.to_string()))?;
        jwk.common.key_id = Some(KID.to_owned());
        Ok(Self { encoding, jwk })
    }

    /// The public half, as providers publish it.
    pub fn jwks(&self) -> JwkSet {
        JwkSet { keys: vec![self.jwk.clone()] }
    }

    /// Signs claims.
    ///
    /// # Errors
    /// Where the cryptography library cannot.
    pub fn sign(&self, claims: &Map<String, Value>) -> Result<String, DemoError> {
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some(KID.to_owned());
        encode(&header, claims, &self.encoding).map_err(|error| DemoError::Start(error.to_string()))
    }

    /// The claims of a token that this key signed, whatever its times and audience.
    pub fn claims(&self, token: &str) -> Option<Map<String, Value>> {
        let key = DecodingKey::from_jwk(&self.jwk).ok()?;
        let mut validation = Validation::new(Algorithm::ES256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        decode(token, &key, &validation).ok().map(|data| data.claims)
    }
}
