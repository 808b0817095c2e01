//! Whether one address may be connected to.

use super::address::{AddressKind, kind_of};
use super::port::service_of;
use crate::pool::PoolPolicy;
use std::net::SocketAddr;

/// Why an address is not connected to. Names no address: behind a name it may be a secret of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedTarget {
    /// It belongs to some inner network, or to the executor itself.
    #[error("its address is {0}")]
    Internal(&'static str),
    /// No connection could lead there.
    #[error("its address is {0}")]
    NoHost(&'static str),
    /// Something else than HTTP listens there.
    #[error("port {0} is for {1}, not for HTTP")]
    Port(u16, &'static str),
}

/// What HTTP tasks of a pool may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetPolicy {
    private_targets: bool,
}

/// An address that was checked and may be connected to. IPv4 in IPv6 clothes has become IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedAddress(SocketAddr);

impl CheckedAddress {
    /// The address.
    #[must_use]
    pub const fn get(self) -> SocketAddr {
        self.0
    }
}

impl From<PoolPolicy> for TargetPolicy {
    fn from(pool: PoolPolicy) -> Self {
        Self { private_targets: pool.private_targets }
    }
}

impl TargetPolicy {
    /// Passes `address` if a connection may be made to it.
    ///
    /// # Errors
    /// Why not.
    pub fn check(self, address: SocketAddr) -> Result<CheckedAddress, RefusedTarget> {
        let ip = address.ip().to_canonical();
        match kind_of(ip) {
            AddressKind::Internal(what) if !self.private_targets => {
                return Err(RefusedTarget::Internal(what));
            }
            AddressKind::NoHost(what) => return Err(RefusedTarget::NoHost(what)),
            AddressKind::Internal(_) | AddressKind::Public => {}
        }
        match service_of(address.port()) {
            Some(service) if !self.private_targets => {
                Err(RefusedTarget::Port(address.port(), service))
            }
            _ => Ok(CheckedAddress(SocketAddr::new(ip, address.port()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(private_targets: bool, address: &str) -> Result<String, RefusedTarget> {
        let pool = PoolPolicy { private_targets, ..PoolPolicy::default() };
        let checked = TargetPolicy::from(pool).check(address.parse().unwrap());
        checked.map(|checked| checked.get().to_string())
    }

    #[test]
    fn only_public_addresses_and_web_ports_pass_by_default() {
        assert_eq!(check(false, "8.8.8.8:443").unwrap(), "8.8.8.8:443");
        assert_eq!(check(false, "[::ffff:8.8.8.8]:80").unwrap(), "8.8.8.8:80");
        assert_eq!(check(false, "127.0.0.1:80"), Err(RefusedTarget::Internal("loopback")));
        assert_eq!(check(false, "[::ffff:127.0.0.1]:80"), Err(RefusedTarget::Internal("loopback")));
        assert_eq!(check(false, "8.8.8.8:6379"), Err(RefusedTarget::Port(6379, "Redis")));
    }

    #[test]
    fn a_pool_may_open_inner_addresses_and_ports_but_nothing_that_is_no_host() {
        assert_eq!(check(true, "127.0.0.1:5432").unwrap(), "127.0.0.1:5432");
        assert_eq!(check(true, "[fd00::1]:80").unwrap(), "[fd00::1]:80");
        assert_eq!(check(true, "224.0.0.1:80"), Err(RefusedTarget::NoHost("multicast")));
    }
}
