//! Takes back what was handed out, and was neither placed nor given back in time.
//!
//! Every scheduler runs it, as the poll of due tasks. What is queued is read as a whole, which is little; where it is not, it is read
//! less often.

use super::poll::{MOVED_ON, count};
use bus::{Bus, Topic};
use runtime::clock;
use runtime::tick::TickOutcome;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::{stale_hints, transition};
use tracing::debug;

/// From one look to the next, at least.
pub(crate) const LEAST: Duration = Duration::from_millis(500);
/// The same at most; `scheduler.sweep_age` is 5 s.
const MOST: Duration = Duration::from_millis(2500);
/// Looks take one part of so many of the time.
const REST: u32 = 50;

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
        let rest = (began.elapsed() * REST).clamp(LEAST, MOST);
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
