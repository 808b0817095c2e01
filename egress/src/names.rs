//! From the name of a host to its addresses: /etc/hosts, then the name servers.
//!
//! No thread waits for a name server, and a lookup that is given up is over. The system's files are read again when they have
//! changed. Nothing is kept from one lookup to the next: what a name means is asked before each connection.

use domain::time::format_duration;
use hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use hickory_resolver::{Hosts, Resolver, TokioResolver};
use parking_lot::Mutex;
use runtime::clock;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What the system says of names.
const FILES: [&str; 2] = ["/etc/resolv.conf", "/etc/hosts"];
/// Most addresses of one name that are of interest.
const MAX_ADDRESSES: usize = 32;

#[derive(Debug)]
pub(super) struct Names {
    name_servers: Vec<SocketAddr>,
    /// The longest that one lookup may take.
    limit: Duration,
    /// Most lookups at once.
    most: usize,
    read: Mutex<Option<(Stamp, Arc<Read>)>>,
}

/// When each file was changed last, and how long it is.
type Stamp = [Option<(SystemTime, u64)>; FILES.len()];

/// What the files said.
struct Read {
    hosts: Hosts,
    resolver: TokioResolver,
}

impl std::fmt::Debug for Read {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Read")
    }
}

impl Names {
    /// Asks `name_servers`, or the system's where there are none.
    pub(super) const fn new(name_servers: Vec<SocketAddr>, limit: Duration, most: usize) -> Self {
        Self { name_servers, limit, most, read: Mutex::new(None) }
    }

    /// The addresses of `host`, which is no address itself, the best first.
    ///
    /// # Errors
    /// For people: what is wrong with the name; of the kind `TimedOut` when no name server answered in time.
    pub(super) async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let name = Name::from_str_relaxed(host).map_err(io::Error::other)?;
        let read = self.read()?;
        let known = read.of_hosts(&name);
        if !known.is_empty() {
            return Ok(in_order(known));
        }
        let found = clock::timeout(self.limit, read.resolver.lookup_ip(name)).await;
        let found =
            found.unwrap_or(Err(NetError::Timeout)).map_err(|error| self.io_error(&error))?;
        Ok(in_order(found.iter().take(MAX_ADDRESSES).collect()))
    }

    /// As the files say now.
    fn read(&self) -> io::Result<Arc<Read>> {
        let stamp = FILES.map(|file| {
            let found = fs::metadata(file).ok()?;
            Some((found.modified().ok()?, found.len()))
        });
        let mut kept = self.read.lock();
        if let Some((of, read)) = kept.as_ref()
            && *of == stamp
        {
            return Ok(Arc::clone(read));
        }
        let read = Arc::new(Read {
            hosts: Hosts::from_system().unwrap_or_default(),
            resolver: self.resolver().map_err(io::Error::other)?,
        });
        *kept = Some((stamp, Arc::clone(&read)));
        Ok(read)
    }

    fn resolver(&self) -> Result<TokioResolver, NetError> {
        // As the system's own resolver does where the file is missing: a name server on this machine.
        let (mut config, mut options) = read_system_conf().unwrap_or_else(|error| {
            tracing::warn!(%error, "No name server can be read from /etc/resolv.conf; 127.0.0.1 is asked: {error}");
            let local = NameServerConfig::udp_and_tcp(Ipv4Addr::LOCALHOST.into());
            (ResolverConfig::from_name_servers(vec![local]), ResolverOpts::default())
        });
        if !self.name_servers.is_empty() {
            config.name_servers = self.name_servers.iter().map(server).collect();
        }
        if !config.search.is_empty() {
            // Made of the host's name; counts only where there is no list.
            config.domain = None;
        }
        // One server at a time, so that a lookup has few open files; one that is silent leaves time for the next.
        options.num_concurrent_reqs = 1;
        options.timeout = options.timeout.min(self.limit / 3);
        options.attempts = options.attempts.max(2);
        options.cache_size = 0;
        // Both kinds of address at once, over each connection.
        options.max_active_requests = self.most.saturating_mul(2);
        let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        *builder.options_mut() = options;
        builder.build()
    }

    fn io_error(&self, error: &NetError) -> io::Error {
        match error {
            NetError::Timeout => io::Error::new(
                ErrorKind::TimedOut,
                format!("no name server has answered within {}", format_duration(self.limit)),
            ),
            error if error.is_nx_domain() => {
                io::Error::new(ErrorKind::NotFound, "there is no such name")
            }
            error if error.is_no_records_found() => {
                io::Error::new(ErrorKind::NotFound, "it has no address")
            }
            NetError::Dns(DnsError::ResponseCode(code)) => {
                io::Error::other(format!("the name server answered: {code}"))
            }
            other => io::Error::other(other.to_string()),
        }
    }
}

impl Read {
    /// What /etc/hosts says of `name`. One that it has is asked of no name server, whichever kind of address it has.
    fn of_hosts(&self, name: &Name) -> Vec<IpAddr> {
        [RecordType::AAAA, RecordType::A]
            .into_iter()
            .filter_map(|kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind)))
            .flat_map(|found| {
                let records = found.answers().iter();
                records.filter_map(|record| record.data.ip_addr()).collect::<Vec<_>>()
            })
            .collect()
    }
}

fn server(address: &SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    for connection in &mut server.connections {
        connection.port = address.port();
    }
    server
}

/// Those that this machine has a way to first, and the two kinds in turn, so that a few tries meet both (RFC 8305).
fn in_order(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (new, old): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(IpAddr::is_ipv6);
    if new.is_empty() || old.is_empty() {
        return [new, old].concat();
    }
    let (mut new, mut old) = (new.into_iter(), old.into_iter());
    let mut mixed = Vec::new();
    loop {
        let pair = [new.next(), old.next()];
        if pair == [None, None] {
            break;
        }
        mixed.extend(pair.into_iter().flatten());
    }
    let (mut reachable, others): (Vec<IpAddr>, Vec<IpAddr>) =
        mixed.into_iter().partition(|address| has_a_way(*address));
    reachable.extend(others);
    reachable
}

/// Whether the kernel knows a route. Sends nothing.
fn has_a_way(to: IpAddr) -> bool {
    let from: IpAddr =
        if to.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
    UdpSocket::bind((from, 0)).and_then(|socket| socket.connect((to, 9))).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_address_come_in_turn_and_those_without_a_way_last() {
        let parse = |list: &[&str]| -> Vec<IpAddr> {
            list.iter().map(|address| address.parse().unwrap()).collect()
        };
        let one_kind = parse(&["127.0.0.3", "127.0.0.1", "127.0.0.2"]);
        assert_eq!(in_order(one_kind.clone()), one_kind, "as the name server orders them");
        let mixed = in_order(parse(&["::1", "::1", "::1", "::1", "127.0.0.1", "127.0.0.2"]));
        let first = mixed.iter().position(IpAddr::is_ipv4).unwrap();
        assert!(first <= 1 && mixed.len() == 6, "{mixed:?}");
        // A documentation address with a zone of its own is on no machine.
        if !has_a_way("2001:db8::1".parse().unwrap()) {
            let mixed = in_order(parse(&["2001:db8::1", "127.0.0.1"]));
            assert_eq!(mixed, parse(&["127.0.0.1", "2001:db8::1"]));
        }
    }

    #[tokio::test]
    async fn a_name_of_the_hosts_file_is_asked_of_no_name_server() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        let names = Names::new(vec![address], Duration::from_secs(20), 4);
        let found = names.addresses("LocalHost").await.unwrap();
        assert!(found.iter().all(IpAddr::is_loopback) && !found.is_empty(), "{found:?}");
        silent.set_nonblocking(true).unwrap();
        assert!(silent.recv(&mut [0; 512]).is_err(), "a name server was asked");
    }
}
