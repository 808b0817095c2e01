//! Alerts of spend caps: at 50, 80 and 100 %.

use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::spend::{CapAlert, tell_used_up};
use tracing::info;

/// Checks all caps and logs the new alerts.
pub(crate) async fn spend_tick(db: &SchedulerDb) -> Result<TickOutcome, StoreError> {
    let told = tell_used_up(db).await?;
    for CapAlert { tenant, cap, percent } in &told {
        info!(tenant.id = %tenant, cap, percent, "Tenant `{tenant}` has used up {percent} % of its spend cap `{cap}`");
    }
    Ok(TickOutcome::idle(told.len() as u64))
}
