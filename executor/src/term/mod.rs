//! How long this executor may believe that its leases are its own.
//!
//! Counted from when the last confirmed heartbeat was *sent*: the resource manager renewed the session
//! after that, so its database's term always ends later than ours. At two thirds of the term without a
//! confirmation all work is killed; the last third is the margin for clocks and for killing.

use runtime::clock::Instant;
use std::time::Duration;

/// The present term of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    length: Duration,
    confirmed: Instant,
}

impl Term {
    /// A term that was confirmed by the answer to what was sent at `sent`.
    pub(crate) const fn new(length: Duration, sent: Instant) -> Self {
        Self { length, confirmed: sent }
    }

    /// An answer confirmed what was sent at `sent`. Answers out of order change nothing.
    pub(crate) fn confirm(&mut self, sent: Instant) {
        self.confirmed = self.confirmed.max(sent);
    }

    /// Keeps what an earlier stream of the same session has confirmed, if that is later.
    pub(crate) fn confirm_as(&mut self, earlier: &Self) {
        self.confirm(earlier.confirmed);
    }

    /// From here on everything must be dead.
    pub(crate) fn ends(&self) -> Instant {
        self.confirmed + self.length * 2 / 3
    }

    /// True when the leases are no longer ours.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now >= self.ends()
    }

    /// Time between two heartbeats.
    pub(crate) fn beat(&self) -> Duration {
        self.length / 3
    }

    /// How long a heartbeat may stay unanswered before another stream is tried: half-way between two.
    pub(crate) fn doubt(&self) -> Duration {
        self.length / 6
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock;

    #[test]
    fn a_term_is_over_at_two_thirds_from_the_sending() {
        let start = clock::monotonic();
        let second = Duration::from_secs(1);
        let mut term = Term::new(9 * second, start);
        assert!(!term.is_over(start + 6 * second - Duration::from_nanos(1)));
        assert!(term.is_over(start + 6 * second));
        term.confirm(start + 3 * second);
        term.confirm(start + second);
        assert_eq!(term.ends(), start + 9 * second);
        assert_eq!((term.beat(), term.doubt()), (3 * second, 1500 * Duration::from_millis(1)));
    }
}
