//! Which addresses a registered API server may have.
//!
//! Invariant: [`EndpointPolicy::permit`] is asked about the very address that is dialled, after name resolution, and
//! about literal addresses when a kubeconfig is judged. Addresses that name this computer's neighbourhood or a cloud's
//! instance metadata are refused under every policy, in every spelling (IPv4-mapped, NAT64, 6to4).
//!
//! Deliberately absent: names. A name is only as good as what it resolves to at the moment of dialling.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a registered API server may resolve to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointPolicy {
    /// Public addresses only.
    Public,
    /// Adds RFC 1918, unique local (RFC 4193) and shared (RFC 6598) ranges: clusters reached through a VPN.
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

/// What an address is, from the tightest refusal to the widest allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Never(&'static str),
    Loopback,
    Private(&'static str),
    Public,
}

impl EndpointPolicy {
    /// Whether a connection to this address may be opened.
    ///
    /// # Errors
    /// [`AddressRefused`] names the class of the address.
    pub fn permit(self, address: IpAddr) -> Result<(), AddressRefused> {
        let class = match (classify(address), self) {
            (Class::Public, _)
            | (Class::Private(_), Self::Private | Self::Any)
            | (Class::Loopback, Self::Any) => {
                return Ok(());
            }
            (Class::Never(class) | Class::Private(class), _) => class,
            (Class::Loopback, _) => "a loopback address (this computer itself)",
        };
        Err(AddressRefused { address, class })
    }
}

fn classify(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(v4) => classify_v4(v4),
        IpAddr::V6(v6) => classify_v6(v6),
    }
}

/// Azure's wire server and Alibaba's metadata service live outside the link-local range.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(169, 254, 169, 254), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200)];
/// EC2's metadata service over IPv6, inside the unique local range.
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254);

fn classify_v4(address: Ipv4Addr) -> Class {
    let [a, b, ..] = address.octets();
    if METADATA_V4.contains(&address) {
        Class::Never("a cloud's instance metadata address")
    } else if address.is_unspecified() || a == 0 {
        Class::Never("an unspecified address")
    } else if address.is_link_local() {
        Class::Never("a link-local address")
    } else if address.is_multicast() {
        Class::Never("a multicast address")
    } else if a >= 240 {
        Class::Never("a reserved or broadcast address")
    } else if address.is_loopback() {
        Class::Loopback
    } else if address.is_private() {
        Class::Private("a private address (RFC 1918)")
    } else if a == 100 && (64..128).contains(&b) {
        Class::Private("a shared carrier address (RFC 6598)")
    } else {
        Class::Public
    }
}

fn classify_v6(address: Ipv6Addr) -> Class {
    let segments = address.segments();
    // An IPv4 address in an IPv6 dress is judged as the IPv4 address that is reached.
    if let Some(v4) = embedded_v4(address) {
        return classify_v4(v4);
    }
    if address == METADATA_V6 {
        Class::Never("a cloud's instance metadata address")
    } else if address.is_unspecified() {
        Class::Never("an unspecified address")
    } else if address.is_loopback() {
        Class::Loopback
    } else if address.is_multicast() {
        Class::Never("a multicast address")
    } else if segments[0] & 0xffc0 == 0xfe80 {
        Class::Never("a link-local address")
    } else if segments[0] & 0xffc0 == 0xfec0 {
        Class::Never("a deprecated site-local address (RFC 3879)")
    } else if segments[0] & 0xfe00 == 0xfc00 {
        Class::Private("a unique local address (RFC 4193)")
    } else {
        Class::Public
    }
}

/// IPv4-mapped (RFC 4291), IPv4-compatible (deprecated there), NAT64 (RFC 6052 and RFC 8215) and 6to4 (RFC 3056).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let tail = || Ipv4Addr::from((u32::from(s[6]) << 16) | u32::from(s[7]));
    let compatible = s[..6] == [0; 6] && (s[6] != 0 || s[7] > 1);
    let mapped = s[..6] == [0, 0, 0, 0, 0, 0xffff];
    let nat64 = s[..6] == [0x64, 0xff9b, 0, 0, 0, 0] || s[..3] == [0x64, 0xff9b, 1];
    if mapped || compatible || nat64 {
        Some(tail())
    } else if s[0] == 0x2002 {
        Some(Ipv4Addr::from((u32::from(s[1]) << 16) | u32::from(s[2])))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EndpointPolicy::{Any, Private, Public};

    fn permits(policy: EndpointPolicy, address: &str) -> bool {
        policy.permit(address.parse().expect("the table holds addresses")).is_ok()
    }

    #[test]
    fn addresses_that_no_api_server_has_are_refused_under_every_policy() {
        for address in [
            "169.254.169.254",
            "169.254.0.1",
            "168.63.129.16",
            "100.100.100.200",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "::ffff:0.0.0.0",
        ] {
            for policy in [Public, Private, Any] {
                assert!(!permits(policy, address), "{address} under {policy:?}");
            }
        }
    }

    #[test]
    fn loopback_is_reached_only_where_the_deployment_says_any() {
        for address in
            ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]
        {
            assert!(permits(Any, address), "{address}");
            assert!(!permits(Private, address) && !permits(Public, address), "{address}");
        }
    }

    #[test]
    fn private_ranges_are_refused_under_public() {
        for address in [
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "fd12::1",
            "fc00::1",
        ] {
            assert!(permits(Private, address) && permits(Any, address), "{address}");
            assert!(!permits(Public, address), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_reached_under_every_policy() {
        for address in
            ["1.1.1.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "2600:1f18::1", "2001:db8::5"]
        {
            for policy in [Public, Private, Any] {
                assert!(permits(policy, address), "{address} under {policy:?}");
            }
        }
    }
}
