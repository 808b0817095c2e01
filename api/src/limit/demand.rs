//! How much a tenant wants lately, so that a lease fits it: a large one for the busy, a small one for who comes now and then.

use runtime::clock::Instant;
use std::time::Duration;

const WINDOW: Duration = Duration::from_millis(500);

/// Tasks wanted in half a second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    began: Instant,
    now: u64,
    before: u64,
}

impl Demand {
    pub(super) const fn new(now: Instant) -> Self {
        Self { began: now, now: 0, before: 0 }
    }

    /// So many more are wanted.
    pub(super) fn add(&mut self, wanted: u64, now: Instant) {
        let age = now - self.began;
        if age >= WINDOW {
            self.before = if age < WINDOW * 2 { self.now } else { 0 };
            self.now = 0;
            self.began = now;
        }
        self.now = self.now.saturating_add(wanted);
    }

    /// What half a second wants, going by this one and the one before.
    pub(super) fn of_window(&self) -> u64 {
        self.now.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_what_comes_and_forgets_what_came_long_ago() {
        let start = runtime::clock::monotonic();
        let mut demand = Demand::new(start);
        for ms in 0..500 {
            demand.add(2, start + Duration::from_millis(ms));
        }
        assert_eq!(demand.of_window(), 1000);
        demand.add(1, start + Duration::from_millis(501));
        assert_eq!(demand.of_window(), 1000, "the window before");
        demand.add(1, start + Duration::from_millis(5000));
        assert_eq!(demand.of_window(), 1);
    }
}
