//! Makes ready what has come of the tasks that are held, in groups.
//!
//! A group is whatever came while the one before was written. Which of them are due the database decides, by its own clock, and
//! which wait still: what is not so any more stays as it is.

use super::HeldTasks;
use super::held::keys;
use super::poll::{MOVED_ON, count};
use crate::fire::DbClock;
use crate::metrics::DUE_LATENESS;
use bus::{Bus, Topic};
use runtime::tick::TickOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::transition;

/// The shortest time from the end of one group to the next, unless a sooner one is found meanwhile. Where tasks come due all the time,
/// those of some milliseconds go together on their whole way to their leases: at 500 a second that takes 2.5 ms of processor time a
/// task, and 3.1 with a millisecond; with 5 they start later (docs/performance.md).
const APART: Duration = Duration::from_millis(3);

pub(crate) struct ReleaseTick {
    pub(crate) db: SchedulerDb,
    pub(crate) bus: Bus,
    pub(crate) clock: Arc<DbClock>,
    pub(crate) held: Arc<HeldTasks>,
}

impl ReleaseTick {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let Some(now) = self.clock.now() else { return Ok(TickOutcome::idle(0)) };
        let come = self.held.take(now);
        let Some(first) = come.iter().map(|task| task.due_at).min() else {
            return Ok(self.rest(0));
        };
        let moved = count("due", transition::due(&self.db, &keys(&come)).await?);
        if moved > 0 {
            MOVED_ON.hit().await?;
            // Tasks are held only where the batcher is: nobody else need hear of it. One that has just taken over looks by itself.
            self.bus.wake_here(Topic::Batcher);
            let late = self.clock.now().map(|now| now - first);
            DUE_LATENESS
                .observe_duration(late.and_then(|late| late.to_std().ok()).unwrap_or_default());
        }
        if moved < come.len() as u64 {
            // Cancelled meanwhile, or not due yet by the database's clock: that one comes again.
            self.held.look_again();
        }
        Ok(self.rest(moved))
    }

    /// Until the next is due.
    fn rest(&self, done: u64) -> TickOutcome {
        match self.held.next_due().zip(self.clock.now()) {
            Some((next, now)) => {
                let pause = (next - now).to_std().unwrap_or_default();
                TickOutcome::after(pause.max(APART), done)
            }
            None => TickOutcome::idle(done),
        }
    }
}
