//! Goes on with the release of children, where a parent had more than the statement that ended it decides.
//!
//! Runs in every scheduler: concurrent runs lock different parents. Each piece is a transaction, so a crash only delays what is left.

use super::poll::count;
use bus::{Bus, Topic};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::transition;

/// A piece of children is to be decided.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.children.before_commit");
/// A piece of children is decided, and the batcher is not woken yet.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.children.committed");

pub(crate) struct ChildrenTick {
    db: SchedulerDb,
    bus: Bus,
}

impl ChildrenTick {
    pub(crate) const fn new(db: SchedulerDb, bus: Bus) -> Self {
        Self { db, bus }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        BEFORE_COMMIT.hit().await?;
        let piece = transition::released(&self.db).await?;
        if piece.edges > 0 {
            COMMITTED.hit().await?;
            count("released", piece.ready);
            if piece.ready > 0 {
                self.bus.wake(Topic::Batcher);
            }
        }
        Ok(if piece.parents > 0 {
            TickOutcome::now(piece.edges)
        } else {
            TickOutcome::idle(piece.edges)
        })
    }
}
