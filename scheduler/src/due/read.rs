//! Reads which tasks are due soon.
//!
//! Runs on a timer, and on wake-ups for tasks that are due before the next read. Runs only in the batcher's process: so
//! the release can wake the batcher locally, and no other process does the same work.

use super::HeldTasks;
use crate::fire::DbClock;
use crate::leader::Leader;
use crate::metrics::HELD_TASKS;
use runtime::clock::{self, Instant, monotonic};
use runtime::tick::TickOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::due_within;

/// Longest interval between two reads.
pub(crate) const READ_INTERVAL: Duration = Duration::from_millis(200);
/// Shortest interval between two reads (debounce of wake-ups).
const MIN_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) struct ReadDueTick {
    pub(crate) db: SchedulerDb,
    pub(crate) leader: Arc<Leader>,
    pub(crate) clock: Arc<DbClock>,
    pub(crate) held: Arc<HeldTasks>,
    /// How far ahead is read.
    pub(crate) window: Duration,
    /// Tasks read at once.
    pub(crate) limit: i64,
    pub(crate) last_read: Option<Instant>,
}

impl ReadDueTick {
    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if let Some(left) = self.last_read.and_then(|at| MIN_INTERVAL.checked_sub(at.elapsed())) {
            clock::sleep(left).await;
        }
        self.last_read = Some(monotonic());
        let now = self.clock.now().filter(|_| self.leader.epoch().is_some());
        let Some(now) = now else {
            self.held.clear();
            HELD_TASKS.set(0.0);
            return Ok(TickOutcome::idle(0));
        };
        let due = due_within(&self.db, self.window, self.limit).await?;
        self.held.insert(now, &due);
        HELD_TASKS.set(self.held.len() as f64);
        let found = due.len() as u64;
        let full = i64::try_from(due.len()).is_ok_and(|found| found >= self.limit);
        // A full page: read on when some of its tasks were released.
        Ok(if full {
            TickOutcome::after(READ_INTERVAL / 10, found)
        } else {
            TickOutcome::idle(found)
        })
    }
}
