//! Seals the audit log: appends new rows to the chain of their tenant.
//!
//! Runs in every scheduler; `store::audit` admits one at a time.

use runtime::tick::TickOutcome;
use store::StoreError;
use store::audit::seal_batch;
use store::connect::SchedulerDb;

/// Rows per transaction; keeps locks short.
const BATCH: i64 = 500;

/// Seals new rows.
pub(crate) async fn tick(db: &SchedulerDb) -> Result<TickOutcome, StoreError> {
    let sealed = seal_batch(db, BATCH).await?;
    let full = i64::try_from(sealed).is_ok_and(|sealed| sealed >= BATCH);
    Ok(if full { TickOutcome::now(sealed) } else { TickOutcome::idle(sealed) })
}
