//! Who is at the other end: the address that limits before authentication count by.
//!
//! It is the address of the connection. Headers that name another are not believed: anybody can send them.

use actix_web::HttpRequest;
use std::net::{IpAddr, Ipv6Addr};

/// The peer of a request; `None` where the connection has no address.
pub(crate) fn peer_of(request: &HttpRequest) -> Option<IpAddr> {
    request.peer_addr().map(|peer| peer.ip())
}

/// What a peer is counted under. Of IPv6 the first 64 bits: the rest is its owner's to choose.
pub(super) fn counted_as(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_of_ipv6_counts_as_one_peer_and_a_mapped_address_as_what_it_is() {
        let counted = |text: &str| counted_as(text.parse().unwrap()).to_string();
        assert_eq!(counted("2001:db8:1:2:3:4:5:6"), counted("2001:db8:1:2::1"));
        assert_ne!(counted("2001:db8:1:2::1"), counted("2001:db8:1:3::1"));
        assert_eq!(counted("::ffff:192.0.2.7"), "192.0.2.7");
        assert_ne!(counted("192.0.2.7"), counted("192.0.2.8"));
    }
}
