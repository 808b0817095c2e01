//! What the database's clock shows, as near as can be told without asking.
//!
//! Only when to ask is decided by it: what has come, the database decides. Nobody who sets this machine's clock moves it: it goes on
//! from the last answer by the monotonic clock.

use domain::time::Timestamp;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::time::Duration;

/// The best answer is kept for so long.
const TRUSTED: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(crate) struct DbClock(Mutex<Option<Answer>>);

#[derive(Debug, Clone, Copy)]
struct Answer {
    /// The database's time.
    at: Timestamp,
    /// When that was, by our clock: half way between question and answer.
    when: Instant,
    /// How long the answer took.
    took: Duration,
}

impl DbClock {
    /// The database said that it is `at`, when it was asked at `asked`.
    pub(super) fn told(&self, at: Timestamp, asked: Instant) {
        let took = asked.elapsed();
        let answer = Answer { at, when: asked + took / 2, took };
        let mut best = self.0.lock();
        if best.is_none_or(|best| took <= best.took || best.when.elapsed() > TRUSTED) {
            *best = Some(answer);
        }
    }

    /// Its time now; nothing before it has answered.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        let best = *self.0.lock();
        best.map(|best| best.at + (monotonic() - best.when))
    }
}
