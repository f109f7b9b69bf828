//! Which addresses a registered API server may have.

use std::net::IpAddr;

/// What a registered API server may resolve to. Link-local, metadata, multicast and unspecified addresses are refused
/// under every policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointPolicy {
    /// Public addresses only.
    Public,
    /// Adds RFC 1918, unique local (RFC 4193) and shared CGNAT (RFC 6598) ranges: clusters reached through a VPN.
    #[default]
    Private,
    /// Adds loopback: kind, minikube, the demo.
    Any,
}

/// The refusal of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the address {address} is {class}, which this deployment's endpoint policy does not allow")]
pub struct AddressRefused {
    /// The address.
    pub address: IpAddr,
    /// What kind of address it is, in words.
    pub class: &'static str,
}

impl EndpointPolicy {
    /// Whether a connection to this address may be opened.
    ///
    /// # Errors
    /// [`AddressRefused`] names the class of the address.
    pub fn permit(self, address: IpAddr) -> Result<(), AddressRefused> {
        Err(AddressRefused { address, class: "not yet judged" })
    }
}
