//! Housekeeping: tomorrow's partitions, yesterday's, and answers nobody will ask for again.

use crate::metrics::STRAYS;
use runtime::config::LimitsConfig;
use runtime::tick::TickOutcome;
use store::connect::SchedulerDb;
use store::{StoreError, idempotency, load, partition};
use tracing::info;

/// Rows deleted in one statement: short enough that nobody waits for it.
const PURGE_BATCH: i64 = 5000;

pub(crate) struct KeepTick {
    db: SchedulerDb,
    limits: LimitsConfig,
}

impl KeepTick {
    pub(crate) const fn new(db: SchedulerDb, limits: LimitsConfig) -> Self {
        Self { db, limits }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let made = partition::ensure(&self.db, self.limits.partitions_ahead_days).await?;
        let dropped = partition::drop_expired(&self.db, self.limits.history_retention_days).await?;
        if made + dropped > 0 {
            info!(made, dropped, "Made {made} partitions ahead and dropped {dropped}");
        }
        let purged =
            idempotency::purge(&self.db, self.limits.idempotency_retention, PURGE_BATCH).await?;
        load::prune(&self.db).await?;
        let strays = partition::strays(&self.db).await?;
        STRAYS.set(strays as f64);
        let done = made + dropped + purged;
        let more = i64::try_from(purged).is_ok_and(|purged| purged >= PURGE_BATCH);
        Ok(if more { TickOutcome::now(done) } else { TickOutcome::idle(done) })
    }
}
