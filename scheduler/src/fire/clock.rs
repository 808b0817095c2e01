//! An estimate of the database clock without a query.
//!
//! It only decides when to run a statement; the database decides what is due. It advances from the last sample by the
//! monotonic clock, so a change of the system clock has no effect.

use domain::time::Timestamp;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::time::Duration;

/// Longest age of the best sample.
const MAX_AGE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(crate) struct DbClock(Mutex<Option<Sample>>);

#[derive(Debug, Clone, Copy)]
struct Sample {
    /// The database's time.
    at: Timestamp,
    /// The local time of it: half way between request and response.
    when: Instant,
    /// Round-trip time.
    took: Duration,
}

impl DbClock {
    /// Records the database time `at` of a query sent at `sent_at`.
    pub(super) fn record(&self, at: Timestamp, sent_at: Instant) {
        let took = sent_at.elapsed();
        let sample = Sample { at, when: sent_at + took / 2, took };
        let mut best = self.0.lock();
        if best.is_none_or(|best| took <= best.took || best.when.elapsed() > MAX_AGE) {
            *best = Some(sample);
        }
    }

    /// The database time now; `None` before the first sample.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        let best = *self.0.lock();
        best.map(|best| best.at + (monotonic() - best.when))
    }
}
