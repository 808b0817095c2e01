//! Reads which tasks are due in the next moment.
//!
//! Again and again, and on wake-ups: a task that is due so soon that it would be missed in between wakes. Only where the batcher is:
//! who releases a task then knows whom to tell, and no two do the same.

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

/// A look by itself is due this often, at the latest.
pub(crate) const LOOK: Duration = Duration::from_millis(200);
/// The shortest time from one look to the next, however many wake-ups come.
const REST: Duration = Duration::from_millis(5);

pub(crate) struct LookTick {
    pub(crate) db: SchedulerDb,
    pub(crate) leader: Arc<Leader>,
    pub(crate) clock: Arc<DbClock>,
    pub(crate) held: Arc<HeldTasks>,
    /// How far ahead is read.
    pub(crate) window: Duration,
    /// Tasks read at once.
    pub(crate) limit: i64,
    pub(crate) looked: Option<Instant>,
}

impl LookTick {
    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if let Some(left) = self.looked.and_then(|at| REST.checked_sub(at.elapsed())) {
            clock::sleep(left).await;
        }
        self.looked = Some(monotonic());
        let now = self.clock.now().filter(|_| self.leader.epoch().is_some());
        let Some(now) = now else {
            self.held.forget();
            HELD_TASKS.set(0.0);
            return Ok(TickOutcome::idle(0));
        };
        let due = due_within(&self.db, self.window, self.limit).await?;
        self.held.found(now, &due);
        HELD_TASKS.set(self.held.len() as f64);
        let found = due.len() as u64;
        let full = i64::try_from(due.len()).is_ok_and(|found| found >= self.limit);
        // What comes after a full answer is read when some of it has gone.
        Ok(if full { TickOutcome::after(LOOK / 10, found) } else { TickOutcome::idle(found) })
    }
}
