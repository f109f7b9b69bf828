//! Which addresses a registered API server may have.
//!
//! Invariant: [`EndpointPolicy::permit`] is asked about the very address that is dialled, after name resolution, and
//! about literal addresses when a kubeconfig is judged. Addresses that name this computer's neighbourhood or a cloud's
//! instance metadata are refused under every policy, in every IPv6 dress that leads to an IPv4 address.
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
#[error("the address {address} is {class}, which {}", .allowed_by.why_not())]
pub struct AddressRefused {
    /// The address.
    pub address: IpAddr,
    /// What kind of address it is, in words.
    pub class: &'static str,
    /// The narrowest policy that would allow it.
    pub allowed_by: AllowedBy,
}

/// The narrowest policy that allows a refused address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedBy {
    /// `private`.
    Private,
    /// `any`.
    Any,
    /// None: no API server has such an address.
    None,
}

impl AllowedBy {
    /// The end of the sentence "... is an address of this kind, which".
    pub(crate) fn why_not(self) -> &'static str {
        match self {
            Self::Private | Self::Any => "this deployment's endpoint policy does not allow",
            Self::None => "is never dialled",
        }
    }
}

/// What an address is, from the widest allowance to the tightest refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Public,
    Private(&'static str),
    Loopback,
    Never(&'static str),
}

impl EndpointPolicy {
    /// Whether a connection to this address may be opened.
    ///
    /// # Errors
    /// [`AddressRefused`] names the class of the address.
    pub fn permit(self, address: IpAddr) -> Result<(), AddressRefused> {
        let (class, allowed_by) = match (classify(address), self) {
            (Class::Public, _)
            | (Class::Private(_), Self::Private | Self::Any)
            | (Class::Loopback, Self::Any) => return Ok(()),
            (Class::Never(class), _) => (class, AllowedBy::None),
            (Class::Private(class), _) => (class, AllowedBy::Private),
            (Class::Loopback, _) => ("a loopback address (this computer itself)", AllowedBy::Any),
        };
        Err(AddressRefused { address, class, allowed_by })
    }
}

fn classify(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(v4) => classify_v4(v4),
        IpAddr::V6(v6) => classify_v6(v6),
    }
}

const METADATA: Class = Class::Never("a cloud's instance metadata address");
/// Metadata services outside the link-local range: Azure's wire server, Alibaba's and Oracle's (the classic one).
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192)];
/// Metadata services inside the unique local range: Google's, Oracle's and Scaleway's.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042),
];
/// EC2 keeps its instance services over IPv6 (metadata, pod identity, time, names) in `fd00:ec2::/32`.
const EC2_SERVICES: [u16; 2] = [0xfd00, 0x0ec2];

fn classify_v4(address: Ipv4Addr) -> Class {
    let [a, b, c, _] = address.octets();
    if METADATA_V4.contains(&address) || address.octets() == [169, 254, 169, 254] {
        METADATA
    } else if a == 0 {
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
    } else if a == 198 && (18..20).contains(&b) {
        // Some VPN clients hand these out for names that they resolve at the far end.
        Class::Private("a benchmarking address (RFC 2544)")
    } else if [a, b, c] == [192, 0, 0] {
        Class::Private("a protocol assignment (RFC 6890)")
    } else {
        Class::Public
    }
}

fn classify_v6(address: Ipv6Addr) -> Class {
    // An IPv4 address in an IPv6 dress is judged as what is reached, and the dress as well.
    embedded_v4(address).map_or(Class::Public, classify_v4).max(classify_v6_itself(address))
}

fn classify_v6_itself(address: Ipv6Addr) -> Class {
    let segments = address.segments();
    if METADATA_V6.contains(&address) || segments.starts_with(&EC2_SERVICES) {
        METADATA
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
    } else if segments.starts_with(&LOCAL_NAT64) && segments[3..6] != [0, 0, 0] {
        Class::Never("a local NAT64 address (RFC 8215) that hides which IPv4 address it leads to")
    } else if segments[0] & 0xfe00 == 0xfc00 {
        Class::Private("a unique local address (RFC 4193)")
    } else {
        Class::Public
    }
}

/// The prefix for translators of one network (RFC 8215). Only its own `/96` says where the IPv4 address stands; a
/// network that uses another length may place it anywhere.
const LOCAL_NAT64: [u16; 3] = [0x64, 0xff9b, 1];

/// The IPv4 address that an IPv6 address leads to, where it leads to one.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match s {
        // The unspecified and the loopback address look IPv4-compatible and are not.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        // IPv4-compatible and IPv4-mapped (RFC 4291), IPv4-translated (RFC 2765), NAT64 (RFC 6052 and RFC 8215).
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, 0, 0, 0, high, low] => v4(high, low),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo (RFC 4380) writes the address behind the relay inverted.
        [0x2001, 0, .., high, low] => v4(!high, !low),
        // ISATAP (RFC 5214), below any prefix.
        [.., 0 | 0x200, 0x5efe, high, low] => v4(high, low),
        _ => None,
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
            "::ffff:0:169.254.169.254",
            "64:ff9b:1:a9fe:a9:fe00:808:808",
            "2001:0:4136:e378:8000:63bf:5601:5601",
            "2600:1f18::5efe:169.254.169.254",
            "fe80::5efe:8.8.8.8",
            "64:ff9b:1:1:0:5efe:808:808",
            "fd00:ec2::23",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fd00:42::42",
            "192.0.0.192",
        ] {
            for policy in [Public, Private, Any] {
                assert!(!permits(policy, address), "{address} under {policy:?}");
            }
        }
    }

    #[test]
    fn a_refusal_names_the_policy_that_would_allow_the_address() {
        let refused = |policy: EndpointPolicy, address: &str| {
            policy.permit(address.parse().expect("an address")).map_err(|refused| refused.allowed_by)
        };
        assert_eq!(refused(Public, "10.0.0.1"), Err(AllowedBy::Private));
        assert_eq!(refused(Private, "127.0.0.1"), Err(AllowedBy::Any));
        assert_eq!(refused(Any, "169.254.169.254"), Err(AllowedBy::None));
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
            "198.18.0.1",
            "192.0.0.8",
            "::ffff:10.1.2.3",
            "fd12::5efe:8.8.8.8",
            "2001:0:4136:e378:8000:63bf:f5fe:fdfc",
        ] {
            assert!(permits(Private, address) && permits(Any, address), "{address}");
            assert!(!permits(Public, address), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_reached_under_every_policy() {
        for address in [
            "1.1.1.1",
            "172.32.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "198.20.0.1",
            "192.0.1.1",
            "2600:1f18::1",
            "2001:db8::5",
            "64:ff9b::808:808",
        ] {
            for policy in [Public, Private, Any] {
                assert!(permits(policy, address), "{address} under {policy:?}");
            }
        }
    }
}
