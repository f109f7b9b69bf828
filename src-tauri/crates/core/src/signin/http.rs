//! The HTTP client of sign-in: redirects off (RFC 9700: a redirect would carry a code or a token elsewhere), bodies
//! capped, deadlines short, no proxy of the environment, and the server's clock noted.
//!
//! Deliberately absent: logging. Requests carry codes and refresh tokens.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use reqwest::header::{ACCEPT, DATE};
use reqwest::redirect::Policy;
use zeroize::Zeroizing;

use super::error::SignInError;
use crate::clock::Clock;
use crate::deployment::SafeUrl;

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// An answer's status and body, wiped when dropped.
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: Zeroizing<Vec<u8>>,
}

/// Cheap to clone; clones share what they know of the server's clock.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    clock: Arc<dyn Clock>,
    skew_seconds: Arc<AtomicI64>,
}

impl Http {
    /// A client that trusts the system's authorities, and one more where the deployment names it (PEM).
    ///
    /// # Errors
    /// [`SignInError::ProviderBroken`] where the PEM cannot be read.
    pub fn new(host: &str, ca: Option<&str>, clock: Arc<dyn Clock>) -> Result<Self, SignInError> {
        let broken = |why: String| SignInError::ProviderBroken { host: host.to_owned(), why };
        let mut builder = reqwest::Client::builder()
            .redirect(Policy::none())
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            .no_proxy()
            .user_agent(crate::user_agent());
        if let Some(pem) = ca {
            let all = reqwest::Certificate::from_pem_bundle(pem.as_bytes())
                .map_err(|_| broken("`ca` in the deployment file is not a certificate in PEM form".into()))?;
            for certificate in all {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let client = builder.build().map_err(|error| broken(error.without_url().to_string()))?;
        Ok(Self { client, clock, skew_seconds: Arc::default() })
    }

    /// The server's clock minus ours, in seconds, as the newest answer showed it; 0 where none did.
    pub fn skew_seconds(&self) -> i64 {
        self.skew_seconds.load(Ordering::Relaxed)
    }

    /// GETs JSON.
    ///
    /// # Errors
    /// [`SignInError::ProviderUnreachable`] and [`SignInError::ProviderBroken`].
    pub async fn get(&self, url: &SafeUrl) -> Result<Answer, SignInError> {
        let request = self.client.get(url.url().clone()).header(ACCEPT, "application/json");
        self.send(request, url.url().host_str().unwrap_or_default()).await
    }

    /// POSTs a form.
    ///
    /// # Errors
    /// [`SignInError::ProviderUnreachable`] and [`SignInError::ProviderBroken`].
    pub async fn post_form(&self, url: &SafeUrl, form: &[(&str, &str)]) -> Result<Answer, SignInError> {
        let request = self.client.post(url.url().clone()).header(ACCEPT, "application/json").form(form);
        self.send(request, url.url().host_str().unwrap_or_default()).await
    }

    async fn oauth(&self, request: oauth2::HttpRequest) -> Result<oauth2::HttpResponse, SignInError> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let broken = |why: String| SignInError::ProviderBroken { host: host.clone(), why };
        let request =
            reqwest::Request::try_from(request).map_err(|error| broken(error.without_url().to_string()))?;
        let builder = reqwest::RequestBuilder::from_parts(self.client.clone(), request);
        let mut answer = self.send(builder, &host).await?;
        let mut response = http::Response::new(std::mem::take(&mut *answer.body));
        *response.status_mut() =
            http::StatusCode::from_u16(answer.status).map_err(|error| broken(error.to_string()))?;
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        Ok(response)
    }

    async fn send(&self, request: reqwest::RequestBuilder, host: &str) -> Result<Answer, SignInError> {
        let unreachable = |why: String| SignInError::ProviderUnreachable { host: host.to_owned(), why };
        let mut response = request.send().await.map_err(|error| unreachable(why(&error).to_owned()))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(SignInError::ProviderBroken {
                host: host.to_owned(),
                why: "it redirects elsewhere, which is not followed".into(),
            });
        }
        // A provider (or the proxy before it) that is down or overrun says nothing about the session.
        if status.is_server_error() || status == reqwest::StatusCode::TOO_MANY_REQUESTS {
            return Err(unreachable(format!("it answers {}", status.as_u16())));
        }
        let date = response.headers().get(DATE).and_then(|value| value.to_str().ok());
        if let Some(date) = date.and_then(|value| jiff::fmt::rfc2822::parse(value).ok()) {
            let skew = date.timestamp().as_second() - self.clock.now().as_second();
            self.skew_seconds.store(skew, Ordering::Relaxed);
        }
        // Room for the whole from the start where its length is told: a buffer that grows leaves copies behind.
        let room =
            response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(16 * 1024);
        let mut body = Zeroizing::new(Vec::with_capacity(room.min(MAX_BODY_BYTES)));
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(why(&error).to_owned()))? {
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err(SignInError::ProviderBroken {
                    host: host.to_owned(),
                    why: "its answer is far too large".into(),
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status: status.as_u16(), body })
    }
}

/// Boxed, since a closure's future would borrow the client for a lifetime that `Send` cannot be shown for.
impl<'c> oauth2::AsyncHttpClient<'c> for Http {
    type Error = SignInError;
    type Future = Pin<Box<dyn Future<Output = Result<oauth2::HttpResponse, SignInError>> + Send + 'c>>;

    fn call(&'c self, request: oauth2::HttpRequest) -> Self::Future {
        Box::pin(self.oauth(request))
    }
}

/// The library's own text names the URL, which may carry a code.
fn why(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "it took too long"
    } else if error.is_connect() {
        "no connection could be made"
    } else {
        "the connection broke"
    }
}
