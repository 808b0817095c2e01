//! Counts ended tasks into their runs, and ends the runs of which none is left.

use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::workflow::run::count_ends;
use tracing::debug;

/// Ended tasks are to be counted.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.runs.before_commit");
/// Ended tasks are counted.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.runs.committed");

/// Rows of the tally that are counted at once.
const LIMIT: i64 = 1000;

pub(crate) struct RunsTick {
    db: SchedulerDb,
}

impl RunsTick {
    pub(crate) const fn new(db: SchedulerDb) -> Self {
        Self { db }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        BEFORE_COMMIT.hit().await?;
        let counted = count_ends(&self.db, LIMIT).await?;
        if counted.rows > 0 {
            COMMITTED.hit().await?;
        }
        if counted.runs > 0 {
            debug!(runs = counted.runs, "Workflow runs ended");
        }
        let full = i64::try_from(counted.rows).is_ok_and(|rows| rows >= LIMIT);
        Ok(if full { TickOutcome::now(counted.rows) } else { TickOutcome::idle(counted.rows) })
    }
}
