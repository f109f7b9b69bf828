//! The person's own browser, which is where they sign in (RFC 8252): never a web view of ours.
//!
//! Invariant: only https and http URLs are handed to the system, as one argument and without a shell. Deliberately
//! absent: knowing whether it worked. A browser that does not open is why the link can be copied.

use async_trait::async_trait;
use url::Url;

/// Opens the sign-in page.
#[async_trait]
pub trait Browser: Send + Sync {
    /// Opens a URL; `Err` says in words why it could not be.
    async fn open(&self, url: &Url) -> Result<(), String>;
}

/// The system's default browser.
pub struct SystemBrowser;

#[async_trait]
impl Browser for SystemBrowser {
    async fn open(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "https" | "http") {
            return Err("only web addresses are opened".into());
        }
        let url = url.to_string();
        tokio::task::spawn_blocking(move || open::that_detached(url))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())
    }
}
