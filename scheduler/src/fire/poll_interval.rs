//! The poll interval of rare work.

use super::reading::POLL;
use runtime::clock::{self, Instant};
use std::time::Duration;

/// Poll interval after [`IDLE_AFTER`] without work. At most the shortest interval of a schedule, so that the due time
/// after the end of a task is set before it is due.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Longer than the interval of most schedules, so that frequent ones keep the poll fast.
const IDLE_AFTER: Duration = Duration::from_secs(120);

/// Fast while there is work and for [`IDLE_AFTER`] after it.
#[derive(Debug, Default)]
pub(super) struct PollInterval {
    last_work: Option<Instant>,
}

impl PollInterval {
    /// Records whether the last poll found work.
    pub(super) fn record(&mut self, found_work: bool) {
        if found_work {
            self.last_work = Some(clock::monotonic());
        }
    }

    /// Pause until the next poll.
    pub(super) fn pause(&self) -> Duration {
        let quiet = self.last_work.is_none_or(|last_work| last_work.elapsed() > IDLE_AFTER);
        if quiet { IDLE_INTERVAL } else { POLL }
    }
}
