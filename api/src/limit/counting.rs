//! Where this process counts now: alone, together with the others, or its share while Redis is away.
//!
//! Set by the limiter when Redis fails and by the probe when it is back; read by every submission. Each change begins a term, so that a
//! meter that slept through some knows that there was one.

use runtime::clock::Instant;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// There is no Redis: this process has its share, which is the whole where it is the only one.
    Alone {
        /// Live api processes, this one included.
        replicas: u32,
    },
    /// Tokens are leased from Redis.
    Shared,
    /// Redis is away: this process has its share.
    Local {
        /// Live api processes, this one included.
        replicas: u32,
    },
}

/// How to count, and since which change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub way: Way,
    /// Rises with each change.
    pub term: u64,
}

/// The present way.
#[derive(Debug)]
pub(super) struct Counting {
    alone: bool,
    /// Even: shared. Odd: local.
    term: AtomicU64,
    replicas: AtomicU32,
    away_since: Mutex<Option<Instant>>,
}

impl Counting {
    /// With a Redis it is away until it has answered.
    pub(super) fn new(alone: bool, now: Instant) -> Self {
        Self {
            alone,
            term: AtomicU64::new(1),
            replicas: AtomicU32::new(1),
            away_since: Mutex::new(Some(now)),
        }
    }

    pub(super) fn now(&self) -> Counted {
        let term = self.term.load(Ordering::Acquire);
        let replicas = self.replicas.load(Ordering::Relaxed);
        let way = match (self.alone, term % 2) {
            (true, _) => Way::Alone { replicas },
            (false, 0) => Way::Shared,
            (false, _) => Way::Local { replicas },
        };
        Counted { way, term }
    }

    /// So many api processes live.
    pub(super) fn set_replicas(&self, replicas: u32) {
        self.replicas.store(replicas.max(1), Ordering::Relaxed);
    }

    /// Redis does not answer, or not for all yet; true when this is news.
    pub(super) fn leave(&self, now: Instant) -> bool {
        let mut away = self.away_since.lock().unwrap_or_else(PoisonError::into_inner);
        if away.is_some() {
            return false;
        }
        *away = Some(now);
        self.term.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Redis counts for all again.
    pub(super) fn join(&self) {
        let mut away = self.away_since.lock().unwrap_or_else(PoisonError::into_inner);
        if away.take().is_some() {
            self.term.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Since when Redis is away.
    pub(super) fn away_since(&self) -> Option<Instant> {
        *self.away_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock::monotonic;

    #[test]
    fn each_change_begins_a_term_and_news_are_told_once() {
        let counting = Counting::new(false, monotonic());
        counting.set_replicas(3);
        assert_eq!(counting.now(), Counted { way: Way::Local { replicas: 3 }, term: 1 });
        assert!(!counting.leave(monotonic()), "away already");
        counting.join();
        counting.join();
        assert_eq!(counting.now(), Counted { way: Way::Shared, term: 2 });
        assert!(counting.leave(monotonic()) && !counting.leave(monotonic()));
        assert_eq!(counting.now().term, 3);
        let alone = Counting::new(true, monotonic());
        alone.set_replicas(2);
        assert_eq!(alone.now().way, Way::Alone { replicas: 2 });
    }
}
