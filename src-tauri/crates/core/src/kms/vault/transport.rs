//! HTTP to one Vault server: one request, one capped answer.
//!
//! Invariants: a redirect is handed back as the answer it is and never followed (Vault redirects `..` and `//`, and a
//! client that follows takes its token along); nothing of the environment has a say (no proxy variables); an answer
//! over [`MAX_ANSWER`] is cut off; headers and bodies are never logged; error texts come from here, not from the HTTP
//! library, whose own may hold the URL.
//!
//! Deliberately absent: retries, and what an answer means (see `answers`).

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Client, Method, redirect};

use super::VaultConfig;
use crate::kms::wipe::WipingBuffer;
use crate::kms::{KmsError, SecretBytes};

/// The largest answer that is read, in bytes. A KV value of 1 MiB fits with its JSON escapes.
const MAX_ANSWER: usize = 2 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one call may take in all.
pub(super) const CALL_DEADLINE: Duration = Duration::from_secs(10);

pub(super) struct Transport {
    client: Client,
    /// `scheme://host:port[/prefix]/v1/`.
    base: String,
    namespace: Option<HeaderValue>,
}

/// What came back.
pub(super) struct Answer {
    pub status: u16,
    pub body: SecretBytes,
    pub retry_after: Option<Duration>,
}

/// What is sent. Clones share the bytes, which are wiped when the last is dropped.
#[derive(Clone)]
pub(super) struct Body(Bytes);

impl Body {
    pub fn json(value: &impl serde::Serialize, size_hint: usize) -> Result<Self, KmsError> {
        let mut buffer = WipingBuffer::with_capacity(size_hint);
        serde_json::to_writer(&mut buffer, value)
            .map_err(|_| KmsError::Protocol { what: "the request could not be written as JSON".into() })?;
        Ok(Self(Bytes::from_owner(buffer.into_bytes())))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl Transport {
    pub fn new(config: &VaultConfig, deadline: Duration) -> Result<Self, KmsError> {
        config.check()?;
        let mut builder = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .referer(false)
            .user_agent(concat!("muster/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT.min(deadline))
            .timeout(deadline);
        if let Some(pem) = &config.ca_pem {
            let authorities = Certificate::from_pem_bundle(pem.as_bytes()).unwrap_or_default();
            if authorities.is_empty() {
                return Err(KmsError::Misconfigured { what: "ca holds no certificate in PEM form".into() });
            }
            builder = builder.tls_certs_only(authorities);
        }
        let client = builder.build().map_err(|_| KmsError::Misconfigured {
            what: "TLS could not be set up (are the ca certificates whole?)".into(),
        })?;
        let namespace = match &config.namespace {
            Some(name) => Some(
                HeaderValue::from_str(name)
                    .map_err(|_| KmsError::Misconfigured { what: "namespace cannot be sent".into() })?,
            ),
            None => None,
        };
        Ok(Self { client, base: format!("{}/v1/", config.url.as_str().trim_end_matches('/')), namespace })
    }

    /// Sends one request to a path of plain segments below `/v1/`.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Option<Body>,
    ) -> Result<Answer, KmsError> {
        let mut headers = HeaderMap::new();
        if let Some(namespace) = &self.namespace {
            headers.insert("x-vault-namespace", namespace.clone());
        }
        if let Some(token) = token {
            let mut value = HeaderValue::from_str(token)
                .map_err(|_| KmsError::Protocol { what: "its token is not one that can be sent".into() })?;
            value.set_sensitive(true);
            headers.insert("x-vault-token", value);
        }
        let mut request = self.client.request(method, format!("{}{path}", self.base)).headers(headers);
        if let Some(Body(bytes)) = body {
            request = request.header("content-type", "application/json").body(bytes);
        }
        let mut response = request.send().await.map_err(|error| fault_of(&error))?;
        let status = response.status().as_u16();
        let retry_after = seconds(response.headers());
        let announced =
            response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let mut body = WipingBuffer::with_capacity(announced.min(MAX_ANSWER));
        while let Some(chunk) = response.chunk().await.map_err(|error| fault_of(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(KmsError::Protocol {
                    what: format!("its answer is larger than {MAX_ANSWER} bytes"),
                });
            }
            body.extend(&chunk);
        }
        Ok(Answer { status, body: body.into_bytes(), retry_after })
    }
}

/// `Retry-After` in seconds (RFC 9110 section 10.2.3); the date form is not used by Vault.
fn seconds(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

fn fault_of(error: &reqwest::Error) -> KmsError {
    if let Some(why) = tls_fault(error) {
        return KmsError::Tls { why };
    }
    let why = if error.is_timeout() {
        "it did not answer in time"
    } else if error.is_connect() {
        "no connection to it could be opened"
    } else {
        "the connection broke before the answer was whole"
    };
    KmsError::Unavailable { why: why.into(), retry_after: None }
}

/// The fault of TLS at the bottom of an error, in words that hold names and dates of a certificate at most.
fn tls_fault(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(fault) = current.downcast_ref::<rustls::Error>() {
            return Some(crate::kubeconfig::printable(&fault.to_string()));
        }
        // An io::Error hides what it wraps from `source`.
        let wrapped = current.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => current.source(),
        };
    }
    None
}
