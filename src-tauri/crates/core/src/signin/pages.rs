//! The pages that the browser comes back to: static, so that nothing of a request can come back in them.
//!
//! Deliberately absent: scripts, images and links. The content security policy allows the one style and nothing else.

macro_rules! page {
    ($title:literal, $text:literal) => {
        concat!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Muster: ",
            $title,
            "</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;\
             color-scheme:light dark}</style><h1>",
            $title,
            "</h1><p>",
            $text,
            "</p></html>"
        )
    };
}

/// SHA-256 of the pages' one style element, for their content security policy; a test holds the two together.
pub const STYLE_HASH: &str = "0edi7cnP94b4Ybxrel1Aw1t27cC4gAmSFlH1Fu8f9jU=";
/// A code came; whether it is good is only known once it was exchanged.
pub const DONE_PAGE: &str = page!("Back to Muster", "Muster finishes the sign-in. You can close this page.");
/// The provider refused, or the callback is not to be trusted.
pub const FAILED_PAGE: &str = page!("You are not signed in", "Muster says why. You can close this page.");
/// Another attempt's callback.
pub const STALE_PAGE: &str = page!(
    "This page is from an older attempt",
    "Go back to Muster, which is still waiting, and open the browser again."
);
/// Anything else.
pub const NOTHING_PAGE: &str = page!("Nothing is here", "Muster waits for a sign-in at another address.");

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_style_of_every_page_is_the_one_that_its_policy_allows() {
        for page in [DONE_PAGE, FAILED_PAGE, STALE_PAGE, NOTHING_PAGE] {
            let style = page
                .split_once("<style>")
                .and_then(|(_, rest)| rest.split_once("</style>"))
                .expect("a style")
                .0;
            let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style.as_bytes()));
            assert_eq!(hash, STYLE_HASH);
        }
    }
}
