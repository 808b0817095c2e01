//! Stops runs at their deadline, and cancels the tasks of stopped ones.

use bus::{Bus, Topic};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::workflow::run::stop_piece;

/// Some tasks of stopped runs are cancelled.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.stop.committed");

pub(crate) struct StopTick {
    db: SchedulerDb,
    bus: Bus,
    grace: Duration,
}

impl StopTick {
    pub(crate) const fn new(db: SchedulerDb, bus: Bus, grace: Duration) -> Self {
        Self { db, bus, grace }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let piece = stop_piece(&self.db, self.grace).await?;
        let done = piece.expired + piece.cancelled + piece.asked;
        if done > 0 {
            COMMITTED.hit().await?;
        }
        if piece.asked > 0 {
            self.bus.wake(Topic::ResourceManager);
        }
        if piece.cancelled > 0 {
            self.bus.wake(Topic::Batcher);
        }
        // Until a piece finds nothing: what ended may have released others.
        Ok(if piece.cancelled > 0 || piece.more {
            TickOutcome::now(done)
        } else {
            TickOutcome::idle(done)
        })
    }
}
