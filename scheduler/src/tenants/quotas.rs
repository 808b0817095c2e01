//! Tells tenants that a quota is nearly used up.
//!
//! Every scheduler looks, page by page, at all that tenants hold; the database sees to it that each crossing is told once. What a
//! look costs grows with the live tasks there are, so each rests ten times as long as it took, 10 s at most.

use domain::id::TenantId;
use runtime::clock::monotonic;
use runtime::tick::TickOutcome;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::tenant::{NearlyUsed, watch_quotas};
use tracing::info;

/// Tenants looked at in one statement.
const TENANTS: i64 = 10;
/// The longest rest: the process is held to be alive by its ticks.
const LONGEST_REST: Duration = Duration::from_secs(10);
/// Of the time, looking may take one part in so many.
const SHARE: u32 = 10;

pub(crate) struct QuotaTick {
    db: SchedulerDb,
    /// The last tenant that was looked at in this round.
    after: Mutex<Option<TenantId>>,
}

impl QuotaTick {
    pub(crate) fn new(db: SchedulerDb) -> Self {
        Self { db, after: Mutex::default() }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let began = monotonic();
        let after = *self.after.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = watch_quotas(&self.db, after, TENANTS).await?;
        *self.after.lock().unwrap_or_else(PoisonError::into_inner) = watched.last;
        for NearlyUsed { tenant, quota, used, limit } in &watched.told {
            info!(tenant.id = %tenant, quota, used, limit, "Tenant `{tenant}` has used {used} of {limit} of `{quota}`");
        }
        let told = watched.told.len() as u64;
        Ok(match watched.last {
            Some(_) => TickOutcome::after((began.elapsed() * SHARE).min(LONGEST_REST), told),
            None => TickOutcome::idle(told),
        })
    }
}
