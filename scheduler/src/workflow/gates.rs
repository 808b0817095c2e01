//! Opens gates: tasks of nodes get what they run, become their items, begin to wait, or end.

use crate::metrics::MOVED;
use bus::{Bus, Topic};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::workflow::gate::open_gates;

/// Gates are to be opened.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.gates.before_commit");
/// Gates are open, and the batcher is not woken yet.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.gates.committed");

/// Gates that are opened at once: their specs and what they read is in memory.
const LIMIT: i64 = 100;

pub(crate) struct GatesTick {
    db: SchedulerDb,
    bus: Bus,
}

impl GatesTick {
    pub(crate) const fn new(db: SchedulerDb, bus: Bus) -> Self {
        Self { db, bus }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        BEFORE_COMMIT.hit().await?;
        let opened = open_gates(&self.db, LIMIT).await?;
        if opened.read > 0 {
            COMMITTED.hit().await?;
            MOVED.with(&["prepared"]).inc_by(opened.ready);
            MOVED.with(&["gate_ended"]).inc_by(opened.ended);
        }
        if opened.ready + opened.ended > 0 {
            self.bus.wake(Topic::Batcher);
        }
        // What ended may have released others, with gates of their own.
        let more = opened.ended > 0 || i64::try_from(opened.read).is_ok_and(|read| read >= LIMIT);
        Ok(if more { TickOutcome::now(opened.read) } else { TickOutcome::idle(opened.read) })
    }
}
