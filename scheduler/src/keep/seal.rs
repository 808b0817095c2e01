//! Seals the audit: gives new rows their place in their tenant's chain.
//!
//! Every scheduler tries; `store::audit` lets one in at a time.

use runtime::tick::TickOutcome;
use store::StoreError;
use store::audit::seal_batch;
use store::connect::SchedulerDb;

/// Rows sealed in one transaction: short enough that nobody waits for it.
const BATCH: i64 = 500;

/// Seals what was written since.
pub(crate) async fn tick(db: &SchedulerDb) -> Result<TickOutcome, StoreError> {
    let sealed = seal_batch(db, BATCH).await?;
    let full = i64::try_from(sealed).is_ok_and(|sealed| sealed >= BATCH);
    Ok(if full { TickOutcome::now(sealed) } else { TickOutcome::idle(sealed) })
}
