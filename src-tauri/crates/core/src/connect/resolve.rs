//! Name resolution, passed in.
//!
//! Invariant: a name is looked up once per dial, and the addresses of that one answer are the ones that are judged and
//! dialled. Deliberately absent: a cache. The operating system keeps one, and a stale answer of our own would outlive it.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Turns a host name into addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// The addresses of `host`, best first.
    ///
    /// # Errors
    /// The resolver's own words; an empty answer is an error as well to the caller.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver (`getaddrinfo`), which knows hosts files, search domains and split DNS of VPNs.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The port plays no part in the look-up.
        let mut addresses = Vec::new();
        for address in tokio::net::lookup_host((host, 0)).await? {
            if !addresses.contains(&address.ip()) {
                addresses.push(address.ip());
            }
        }
        Ok(addresses)
    }
}
