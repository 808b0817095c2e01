//! Which addresses are public, by the registries of special-purpose addresses (RFC 6890 and its successors).
//!
//! An IPv4 address inside an IPv6 one is judged as what it leads to. In IPv6 only what is given out as global unicast
//! counts as public, so that ranges to come are closed until somebody opens them here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Anybody's.
    Public,
    /// Of some inner network, or of a machine itself. Open to pools that allow private targets.
    Internal(&'static str),
    /// Nothing that a TCP connection could lead to.
    NoHost(&'static str),
}

use AddressKind::{Internal, NoHost, Public};

/// First address, prefix length, what it is. The first row that fits counts.
const V4: [([u8; 4], u32, AddressKind); 20] = [
    // Published by clouds to their virtual machines: these hand out credentials.
    ([169, 254, 169, 254], 32, Internal("a metadata service")),
    ([169, 254, 170, 2], 32, Internal("a metadata service")),
    ([100, 100, 100, 200], 32, Internal("a metadata service")),
    ([168, 63, 129, 16], 32, Internal("a metadata service")),
    // RFC 791 and 1122; Linux connects 0.0.0.0 to itself.
    ([0, 0, 0, 0], 8, Internal("\"this network\"")),
    // RFC 1918.
    ([10, 0, 0, 0], 8, Internal("private")),
    ([172, 16, 0, 0], 12, Internal("private")),
    ([192, 168, 0, 0], 16, Internal("private")),
    // RFC 6598.
    ([100, 64, 0, 0], 10, Internal("shared between carriers")),
    // RFC 1122.
    ([127, 0, 0, 0], 8, Internal("loopback")),
    // RFC 3927.
    ([169, 254, 0, 0], 16, Internal("link-local")),
    // RFC 6890, IETF protocol assignments.
    ([192, 0, 0, 0], 24, Internal("reserved for protocols")),
    // RFC 5737.
    ([192, 0, 2, 0], 24, Internal("for documentation")),
    ([198, 51, 100, 0], 24, Internal("for documentation")),
    ([203, 0, 113, 0], 24, Internal("for documentation")),
    // RFC 7526: relays to 6to4, given up.
    ([192, 88, 99, 0], 24, Internal("a 6to4 relay")),
    // RFC 2544.
    ([198, 18, 0, 0], 15, Internal("for benchmarks")),
    // RFC 5771.
    ([224, 0, 0, 0], 4, NoHost("multicast")),
    // RFC 8190.
    ([255, 255, 255, 255], 32, NoHost("broadcast")),
    // RFC 1112.
    ([240, 0, 0, 0], 4, NoHost("reserved")),
];

/// As for IPv4.
const V6: [([u16; 8], u32, AddressKind); 16] = [
    ([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254], 128, Internal("a metadata service")),
    ([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254], 128, Internal("a metadata service")),
    // RFC 4291.
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Internal("unspecified")),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Internal("loopback")),
    // RFC 4193.
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Internal("private")),
    // RFC 4291.
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Internal("link-local")),
    // RFC 3879.
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Internal("site-local")),
    // RFC 4291.
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, NoHost("multicast")),
    // RFC 8215: translation within one network.
    ([0x0064, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Internal("a local translation")),
    // RFC 6666.
    ([0x0100, 0, 0, 0, 0, 0, 0, 0], 64, NoHost("discarded")),
    // RFC 2928 and its children: Teredo, benchmarks, ORCHID.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Internal("reserved for protocols")),
    // RFC 3849 and 9637.
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32, Internal("for documentation")),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Internal("for documentation")),
    // RFC 3056, given up (RFC 7526): relays may lead anywhere.
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Internal("a 6to4 address")),
    // RFC 4291: all that is given out so far.
    ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, Public),
    ([0, 0, 0, 0, 0, 0, 0, 0], 0, Internal("not given out")),
];

/// What `ip` is for.
#[must_use]
pub fn kind_of(ip: IpAddr) -> AddressKind {
    match ip {
        IpAddr::V4(ip) => kind_of_v4(ip),
        IpAddr::V6(ip) => match embedded(ip) {
            Some(inner) => kind_of_v4(inner),
            None => kind_of_v6(ip),
        },
    }
}

/// The IPv4 address that a connection to `ip` leads to: mapped (RFC 4291), or through the well-known
/// translation prefix (RFC 6052).
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = ip.segments();
    let inner = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let mapped = [a, b, c, d, e, f] == [0, 0, 0, 0, 0, 0xffff];
    let translated = [a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0];
    (mapped || translated).then_some(inner)
}

fn kind_of_v4(ip: Ipv4Addr) -> AddressKind {
    let fits = |(first, prefix, _): &&([u8; 4], u32, AddressKind)| {
        let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
        (ip.to_bits() ^ u32::from_be_bytes(*first)) & mask == 0
    };
    V4.iter().find(fits).map_or(Public, |(_, _, kind)| *kind)
}

fn kind_of_v6(ip: Ipv6Addr) -> AddressKind {
    let fits = |(first, prefix, _): &&([u16; 8], u32, AddressKind)| {
        let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        (ip.to_bits() ^ Ipv6Addr::from(*first).to_bits()) & mask == 0
    };
    V6.iter().find(fits).map_or(Internal("not given out"), |(_, _, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(text: &str) -> AddressKind {
        kind_of(text.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_public_up_to_the_edge_of_each_range() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "2001:200::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert_eq!(kind(text), Public, "{text}");
        }
    }

    #[test]
    fn inner_addresses_are_known_in_every_guise() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "::",
            "::1",
            "::7f00:1",
            "::a00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1",
            "2001::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00::1",
            "fd00:ec2::254",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
        ] {
            assert!(matches!(kind(text), Internal(_)), "{text}: {:?}", kind(text));
        }
        for text in ["224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "ff02::1", "100::1"]
        {
            assert!(matches!(kind(text), NoHost(_)), "{text}: {:?}", kind(text));
        }
    }

    proptest! {
        #[test]
        fn an_ipv4_address_is_the_same_in_ipv6_clothes(bits: u32) {
            let ip = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(kind_of(ip.into()), kind_of(ip.to_ipv6_mapped().into()));
        }

        #[test]
        fn what_the_standard_library_calls_inner_is_never_public(bits: u32, wide: u128) {
            let ip = Ipv4Addr::from_bits(bits);
            let inner = ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_broadcast()
                || ip.is_documentation() || ip.is_multicast() || ip.is_unspecified();
            prop_assert!(!inner || kind_of(ip.into()) != Public);
            for ip in [Ipv6Addr::from_bits(wide), Ipv6Addr::from_bits(u128::from(bits))] {
                let inner = ip.is_loopback() || ip.is_unicast_link_local() || ip.is_unique_local()
                    || ip.is_multicast() || ip.is_unspecified();
                prop_assert!(!inner || kind_of(ip.into()) != Public);
            }
        }
    }
}
