//! Housekeeping: creates partitions, drops old ones, deletes expired idempotency rows, sessions, keys and consumers of events, and
//! cancels tasks of deleted pools.

mod invoices;
mod seal;
mod usage;

use crate::metrics::{MOVED, STRAYS};
pub(crate) use invoices::InvoiceTick;
use runtime::config::LimitsConfig;
use runtime::tick::TickOutcome;
pub(crate) use seal::tick as seal_tick;
use store::connect::SchedulerDb;
use store::task::transition;
use store::{
    StoreError, attempt_end, event, idempotency, key, load, output, partition, session, stored_day,
    workflow,
};
use tracing::info;
pub(crate) use usage::usage_tick;

/// Rows per delete statement; keeps locks short.
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
        let (db, days) = (&self.db, self.limits.history_retention_days);
        // Tries all tables before it fails: one locked table must not block the others.
        let made = partition::ensure(db, self.limits.partitions_ahead_days).await;
        let dropped = partition::drop_expired(db, days).await;
        let purged = idempotency::purge(db, self.limits.idempotency_retention, PURGE_BATCH).await;
        let sessions = session::prune(db, days, PURGE_BATCH).await;
        let keys = key::purge(db, days, PURGE_BATCH).await;
        let consumers = event::forget_expired(db, PURGE_BATCH).await;
        let runs = workflow::run::forget_ended(db, days, PURGE_BATCH).await;
        let signals = workflow::forget_expired_signals(db, PURGE_BATCH).await;
        let loads = load::prune(db).await;
        let ends = attempt_end::prune(db).await;
        let cancelled = transition::pool_deleted(db, PURGE_BATCH).await;
        STRAYS.set(partition::strays(db).await? as f64);
        // Before days of output are forgotten.
        let measured = stored_day::measure(db).await;
        let (made, dropped, purged, sessions) = (made?, dropped?, purged?, sessions?);
        let (keys, consumers, cancelled) = (keys?, consumers?, cancelled?);
        let (runs, signals) = (runs?, signals?);
        loads?;
        ends?;
        measured?;
        stored_day::forget(db, days).await?;
        // Only now: partitions that were not dropped still count.
        output::forget(db, days, PURGE_BATCH).await?;
        if made + dropped > 0 {
            info!(made, dropped, "Made {made} partitions ahead and dropped {dropped}");
        }
        if cancelled > 0 {
            MOVED.with(&["pool_deleted"]).inc_by(cancelled);
            info!(cancelled, "Cancelled {cancelled} tasks of pools that were deleted");
        }
        let done = made + dropped + purged + sessions + keys + consumers + cancelled;
        let done = done + runs + signals;
        let full = |rows: u64| i64::try_from(rows).is_ok_and(|rows| rows >= PURGE_BATCH);
        let more =
            [purged, sessions, keys, consumers, cancelled, runs, signals].into_iter().any(full);
        Ok(if more { TickOutcome::now(done) } else { TickOutcome::idle(done) })
    }
}
