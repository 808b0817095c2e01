//! Where a request comes from: what rates before authentication and tries to sign in are counted by.
//!
//! The socket's address; or, behind proxies that the settings name, the rightmost address of X-Forwarded-For that is none of
//! theirs. What stands left of it was written by whoever sent the request, and is not believed.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use identity::Peer;
use runtime::config::IpNet;
use std::net::IpAddr;

static FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whom the request is counted as; nobody where the socket has no address.
#[must_use]
pub fn peer(request: &HttpRequest, trusted: &[IpNet]) -> Option<Peer> {
    let socket = request.peer_addr()?.ip();
    // A byte that is no text spoils the address it stands in, and none that a proxy wrote behind it.
    let headers = request.headers().get_all(&FORWARDED);
    let lines: Vec<_> = headers.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    Some(whom(socket, lines.iter().map(|line| &**line), trusted))
}

fn whom<'a>(socket: IpAddr, headers: impl Iterator<Item = &'a str>, trusted: &[IpNet]) -> Peer {
    let is_ours = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    let mut peer = socket.to_canonical();
    if is_ours(peer) {
        let hops: Vec<&str> = headers.flat_map(|value| value.split(',')).collect();
        for hop in hops.into_iter().rev() {
            // What is no address was not written by a proxy of ours: the last one that was is who we know.
            let Some(address) = address_of(hop.trim()) else { break };
            peer = address;
            if !is_ours(peer) {
                break;
            }
        }
    }
    Peer::from(peer)
}

/// An address, as proxies write them: bare, with a port, in brackets.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    bare.or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(socket: &str, headers: &[&str], trusted: &[&str]) -> String {
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        whom(socket.parse().unwrap(), headers.iter().copied(), &trusted).to_string()
    }

    #[test]
    fn the_header_is_believed_from_a_listed_proxy_only() {
        assert_eq!(shown("198.51.100.1", &["203.0.113.9"], &[]), "198.51.100.1");
        assert_eq!(shown("198.51.100.1", &["203.0.113.9"], &["10.0.0.0/8"]), "198.51.100.1");
        assert_eq!(shown("10.0.0.1", &["203.0.113.9"], &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(shown("10.0.0.1", &[], &["10.0.0.0/8"]), "10.0.0.1");
    }

    #[test]
    fn the_rightmost_hop_that_is_not_ours_counts_whatever_was_sent_before_it() {
        let ours = ["10.0.0.0/8", "fd00::/8"];
        for (headers, wanted) in [
            (&["1.2.3.4, 203.0.113.9"][..], "203.0.113.9"),
            (&["1.2.3.4", "203.0.113.9, 10.0.0.7"], "203.0.113.9"),
            (&["203.0.113.9:4711, fd00::7"], "203.0.113.9"),
            (&["1.2.3.4, unknown"], "10.0.0.1"),
            (&["1.2.3.4, unknown, 10.0.0.9"], "10.0.0.9"),
            (&["10.0.0.8, 10.0.0.9"], "10.0.0.8"),
            (&["1.2.3.4,"], "10.0.0.1"),
        ] {
            assert_eq!(shown("10.0.0.1", headers, &ours), wanted, "{headers:?}");
        }
    }

    #[test]
    fn an_ipv6_peer_is_its_network_and_a_mapped_one_is_ipv4() {
        assert_eq!(shown("2001:db8:1:2:3:4:5:6", &[], &[]), "2001:db8:1:2::");
        assert_eq!(shown("::ffff:198.51.100.1", &[], &[]), "198.51.100.1");
        assert_eq!(shown("::ffff:10.0.0.1", &["[2001:db8::9]:80"], &["10.0.0.0/8"]), "2001:db8::");
    }
}
