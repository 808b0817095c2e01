//! Requests of each peer, counted in this process.
//!
//! Asked by `dispatch` before a key is looked at, and by who wants to sign in, which costs more. Bounded: a peer that
//! has been quiet long enough to have its whole burst again is forgotten by a tick.

use super::admission::{Limit, Shortage};
use crate::request::Peer;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;

/// The peers, by one limit.
pub(super) struct Peers {
    limit: Limit,
    /// None: no limit.
    limiter: Option<DefaultKeyedRateLimiter<Peer>>,
    clock: DefaultClock,
}

impl Peers {
    /// `per_second` requests a second, 0 for any number, and `burst` at once.
    pub(super) fn new(limit: Limit, per_second: u32, burst: u32) -> Self {
        let quota = NonZeroU32::new(per_second).map(Quota::per_second);
        let quota =
            quota.map(|quota| quota.allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN)));
        Self { limit, limiter: quota.map(RateLimiter::keyed), clock: DefaultClock::default() }
    }

    /// One request of `peer`.
    ///
    /// # Errors
    /// When it has sent too many.
    pub(super) fn pass(&self, peer: Peer) -> Result<(), Shortage> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check_key(&peer).map_err(|not_until| Shortage {
            limit: self.limit,
            wait: not_until.wait_time_from(self.clock.now()),
        })
    }

    /// Forgets the quiet ones; says how many are left.
    pub(super) fn forget_quiet(&self) -> u64 {
        let Some(limiter) = &self.limiter else { return 0 };
        limiter.retain_recent();
        limiter.shrink_to_fit();
        limiter.len() as u64
    }
}

impl std::fmt::Debug for Peers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limited = self.limiter.is_some();
        f.debug_struct("Peers").field(self.limit.as_str(), &limited).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn a_peer_has_its_burst_and_does_not_spend_anothers() {
        let peers = Peers::new(Limit::PeerSignIns, 1, 3);
        let [a, b] = [1, 2].map(|last| Peer::from(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))));
        for _ in 0..3 {
            assert_eq!(peers.pass(a), Ok(()));
        }
        let shortage = peers.pass(a).unwrap_err();
        assert_eq!(shortage.limit, Limit::PeerSignIns);
        assert!(shortage.wait.as_millis() > 500, "{shortage:?}");
        assert_eq!(peers.pass(b), Ok(()));
    }

    #[test]
    fn quiet_peers_are_forgotten_and_0_is_no_limit() {
        let peers = Peers::new(Limit::Peer, 1_000_000, 1);
        for n in 0..10_000_u32 {
            assert_eq!(peers.pass(IpAddr::V4(Ipv4Addr::from(n)).into()), Ok(()));
        }
        assert!(peers.forget_quiet() < 10_000, "their one request was a microsecond's worth");
        let open = Peers::new(Limit::Peer, 0, 1);
        assert!((0..1000).all(|_| open.pass(IpAddr::V4(Ipv4Addr::LOCALHOST).into()).is_ok()));
    }
}
