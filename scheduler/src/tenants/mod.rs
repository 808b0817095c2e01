//! Deleted tenants: their work is cancelled at once, and their data purged when the grace is over.
//!
//! Every scheduler runs it, each second. Small pieces with a rest between them, off the hot path; the database decides what a
//! piece may touch, so that one may be killed, repeated, or done by two at once.

mod quotas;
mod spend;

use bus::{Bus, Topic};
pub(crate) use quotas::QuotaTick;
use runtime::tick::TickOutcome;
pub(crate) use spend::spend_tick;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::transition::{self, EndedTasks};
use store::tenant::{self, DeletedTenant, LAST_PART};
use tracing::{debug, info, warn};

/// Tenants looked after in one tick.
const TENANTS: i64 = 100;
/// Tasks cancelled in one statement.
const CANCELLED: i64 = 1000;
/// Rows purged in one statement; chunks of output are 64 KiB.
const PURGED: i32 = 500;
/// The rest between two pieces, for everybody else's work.
const REST: Duration = Duration::from_millis(50);

pub(crate) struct TenantTick {
    db: SchedulerDb,
    bus: Bus,
    grace: Duration,
    cancel_grace: Duration,
}

impl TenantTick {
    pub(crate) const fn new(
        db: SchedulerDb,
        bus: Bus,
        grace: Duration,
        cancel_grace: Duration,
    ) -> Self {
        Self { db, bus, grace, cancel_grace }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let (mut done, mut more, mut failed) = (0, false, None);
        for gone in tenant::deleted(&self.db, self.grace, TENANTS).await? {
            match self.step(&gone).await {
                Ok((moved, again)) => {
                    done += moved;
                    more |= again;
                }
                // The others have their turn all the same.
                Err(error) => {
                    warn!(tenant.id = %gone.tenant, %error, "Deleted tenant `{}` could not be cleaned up: {error}", gone.tenant);
                    failed = Some(error);
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None if more => Ok(TickOutcome::after(REST, done)),
            None => Ok(TickOutcome::idle(done)),
        }
    }

    /// One step for one tenant: how much was done, and whether there is more.
    async fn step(&self, gone: &DeletedTenant) -> Result<(u64, bool), StoreError> {
        let id = gone.tenant;
        if gone.has_tasks {
            let EndedTasks { cancelled, asked } =
                transition::tenant_deleted(&self.db, id, self.cancel_grace, CANCELLED).await?;
            if asked > 0 {
                self.bus.wake(Topic::ResourceManager);
            }
            if cancelled + asked > 0 {
                debug!(tenant.id = %id, cancelled, asked, "Tasks of deleted tenant `{id}` were cancelled");
            }
            return Ok((cancelled + asked, cancelled + asked >= CANCELLED.unsigned_abs()));
        }
        let Some(part) = tenant::purge(&self.db, id, self.grace, PURGED).await? else {
            return Ok((0, false));
        };
        if part == LAST_PART {
            info!(tenant.id = %id, "Deleted tenant `{id}` is purged");
        }
        Ok((1, true))
    }
}
