//! The person's own browser, which is where they sign in (RFC 8252): never a web view of ours.
//!
//! Invariant: only https URLs, and http ones to loopback, are handed to the system, as one argument and without a shell. Deliberately
//! absent: knowing whether it worked. A browser that does not open is why the link can be copied.

use async_trait::async_trait;
use url::Url;

use crate::deployment::SafeUrl;

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
        SafeUrl::parse(url.as_str())?;
        let url = url.to_string();
        tokio::task::spawn_blocking(move || open::that_detached(url))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_but_a_web_address_is_handed_to_the_system() {
        for url in
            ["file:///etc/passwd", "javascript:alert(1)", "calc:", "http://id.example/", "smb://host/x"]
        {
            let url = Url::parse(url).expect("it is a URL");
            assert!(SystemBrowser.open(&url).await.is_err(), "{url}");
        }
    }
}
