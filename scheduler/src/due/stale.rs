//! Returns queued tasks to `ready` that were neither placed nor returned in time.
//!
//! Runs in every scheduler, like the poll of due tasks. It reads all queued tasks, which are few; if there are many, it
//! runs less often.

use super::poll::{MOVED_ON, count};
use bus::{Bus, Topic};
use runtime::clock;
use runtime::tick::TickOutcome;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::{stale_hints, transition};
use tracing::debug;

/// Shortest interval.
pub(crate) const MIN_INTERVAL: Duration = Duration::from_millis(500);
/// Longest interval; `scheduler.sweep_age` is 5 s.
const MAX_INTERVAL: Duration = Duration::from_millis(2500);
/// The pause is this many times the duration of the read.
const PAUSE_FACTOR: u32 = 50;

pub(crate) struct StaleTick {
    db: SchedulerDb,
    bus: Bus,
    limit: i64,
}

impl StaleTick {
    pub(crate) const fn new(db: SchedulerDb, bus: Bus, limit: i64) -> Self {
        Self { db, bus, limit }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let began = clock::monotonic();
        let stale = stale_hints(&self.db, self.limit).await?;
        let rest = (began.elapsed() * PAUSE_FACTOR).clamp(MIN_INTERVAL, MAX_INTERVAL);
        if !stale.is_empty() {
            let back = transition::dispatch_stale(&self.db, &stale).await?;
            count("dispatch_stale", back);
            if back > 0 {
                MOVED_ON.hit().await?;
                self.bus.wake(Topic::Batcher);
                debug!(back, "Hints that nobody used were taken back");
            }
        }
        let done = stale.len() as u64;
        let full = i64::try_from(done).is_ok_and(|done| done >= self.limit);
        Ok(if full { TickOutcome::now(done) } else { TickOutcome::after(rest, done) })
    }
}
