//! Ends tasks whose call was taken on and that are not completed: at the end of their cap, and when they are cancelled.

use crate::metrics::MOVED;
use bus::{Bus, Topic};
use runtime::fault::FaultPoint;
use runtime::random;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::end_called;

/// Some have ended, and nobody is woken yet.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.called.committed");

/// Read at once.
const LIMIT: i64 = 200;

/// Each scheduler does it: what two of them read ends once.
pub(crate) struct CalledTick {
    db: SchedulerDb,
    bus: Bus,
}

impl CalledTick {
    pub(crate) const fn new(db: SchedulerDb, bus: Bus) -> Self {
        Self { db, bus }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let found = end_called(&self.db, LIMIT, random::unit).await?;
        if found.ended > 0 {
            COMMITTED.hit().await?;
            MOVED.with(&["called_ended"]).inc_by(found.ended);
            self.bus.wake(Topic::Batcher);
            self.bus.wake(Topic::ShardOwner);
        }
        let more = i64::try_from(found.read).is_ok_and(|read| read >= LIMIT);
        Ok(if more { TickOutcome::now(found.read) } else { TickOutcome::idle(found.read) })
    }
}
