//! Now, by both clocks; read once a decision.

use domain::rate::Hour;
use domain::time::Timestamp;
use runtime::clock::{Instant, monotonic, wall};
use std::time::Duration;

/// A moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// On the clock that nobody can set.
    pub at: Instant,
    /// The same, since the limiter was made: what buckets count in.
    pub since: Duration,
    /// On the wall.
    pub wall: Timestamp,
}

impl Moment {
    pub(super) fn now(origin: Instant) -> Self {
        let at = monotonic();
        Self { at, since: at - origin, wall: wall() }
    }

    pub(super) fn hour(&self) -> Hour {
        Hour::of(self.wall)
    }
}
