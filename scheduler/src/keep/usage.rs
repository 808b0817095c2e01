//! Adds up what was used, and prices it.

use crate::metrics::{COUNTED_ATTEMPTS, EVENT_LAG, UNPRICED_ATTEMPTS};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::rollup;
use tracing::info;

/// Attempts are to be counted.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.usage.before_commit");
/// Attempts are counted.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.usage.committed");

/// Counts what ended since the last time.
pub(crate) async fn usage_tick(db: &SchedulerDb) -> Result<TickOutcome, StoreError> {
    BEFORE_COMMIT.hit().await?;
    let counted = rollup::count(db).await?;
    let attempts = counted.attempts as u64;
    if attempts > 0 {
        COMMITTED.hit().await?;
        COUNTED_ATTEMPTS.inc_by(attempts);
        UNPRICED_ATTEMPTS.inc_by(counted.unpriced);
    }
    if let Some(lag) = rollup::lag(db).await? {
        EVENT_LAG.with(&["usage"]).set(lag.as_secs_f64());
    }
    let Some(day) = counted.day else { return Ok(TickOutcome::idle(attempts)) };
    if attempts > 0 {
        info!(%day, attempts, "Counted the usage of {day}");
    }
    Ok(TickOutcome::now(attempts))
}
