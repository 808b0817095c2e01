//! Requests per key, limited in this process alone: peers by address, look-ups of idempotency keys by tenant.
//!
//! Bounded: a tick forgets the keys whose whole burst is available again.

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

/// One limit for each key; none: unlimited.
pub(super) struct KeyedLimit<K: Hash + Eq + Clone>(Option<DefaultKeyedRateLimiter<K>>);

impl<K: Hash + Eq + Clone> KeyedLimit<K> {
    /// `per_second` requests per second, 0: unlimited, and `burst` at once.
    pub(super) fn new((per_second, burst): (u32, u32)) -> Self {
        let quota = NonZeroU32::new(per_second).map(Quota::per_second);
        let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
        Self(quota.map(|quota| RateLimiter::keyed(quota.allow_burst(burst))))
    }

    /// Counts one request.
    ///
    /// # Errors
    /// How long to wait where there were too many.
    pub(super) fn check(&self, key: &K) -> Result<(), Duration> {
        let Some(limiter) = &self.0 else { return Ok(()) };
        limiter
            .check_key(key)
            .map_err(|not_until| not_until.wait_time_from(DefaultClock::default().now()))
    }

    /// Forgets idle keys; returns how many remain.
    pub(super) fn forget_idle(&self) -> usize {
        let Some(limiter) = &self.0 else { return 0 };
        limiter.retain_recent();
        limiter.shrink_to_fit();
        limiter.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use identity::Peer;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn a_peer_has_its_burst_and_does_not_spend_anothers() {
        let peers = KeyedLimit::new((1, 3));
        let [a, b] = [1, 2].map(|last| Peer::from(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))));
        for _ in 0..3 {
            assert_eq!(peers.check(&a), Ok(()));
        }
        let wait = peers.check(&a).unwrap_err();
        assert!(wait.as_millis() > 500, "{wait:?}");
        assert_eq!(peers.check(&b), Ok(()));
    }

    #[test]
    fn quiet_peers_are_forgotten_and_0_is_no_limit() {
        let peers = KeyedLimit::new((1_000_000, 1));
        for n in 0..10_000_u32 {
            assert_eq!(peers.check(&IpAddr::V4(Ipv4Addr::from(n))), Ok(()));
        }
        assert!(peers.forget_idle() < 10_000, "their one request was a microsecond's worth");
        let open = KeyedLimit::new((0, 1));
        assert!((0..1000).all(|_| open.check(&IpAddr::V4(Ipv4Addr::LOCALHOST)).is_ok()));
    }
}
