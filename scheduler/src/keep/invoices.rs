//! Makes invoices final whose months are over and counted.
//!
//! A month is a row of its tenant, locked by whoever bills it and moved on in the transaction that writes its invoices: several schedulers
//! may do this at once, and be killed at any point, and each month is billed once.

use crate::metrics::INVOICES;
use domain::id::TenantId;
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::invoice::{self, Closed};
use tracing::info;

/// Tenants of one tick.
const BATCH: i64 = 200;

/// Months are to be billed.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.invoices.before_commit");
/// Those that were over are billed.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.invoices.committed");

pub(crate) struct InvoiceTick {
    db: SchedulerDb,
    seller: String,
    /// The last tenant of the batch before, where there may be more after it.
    after: Option<TenantId>,
}

impl InvoiceTick {
    pub(crate) const fn new(db: SchedulerDb, seller: String) -> Self {
        Self { db, seller, after: None }
    }

    /// Bills the next month of each tenant of a batch. A tenant that has more months to bill comes again in the next round.
    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        BEFORE_COMMIT.hit().await?;
        let tenants = invoice::ending(&self.db, self.after, BATCH).await?;
        let (mut closed, mut invoices) = (0, 0);
        for tenant in &tenants {
            if let Closed::Yes(made) = invoice::close_next(&self.db, *tenant, &self.seller).await? {
                closed += 1;
                invoices += made as u64;
            }
        }
        let is_full = i64::try_from(tenants.len()).is_ok_and(|tenants| tenants >= BATCH);
        self.after = tenants.last().copied().filter(|_| is_full);
        if invoices > 0 {
            INVOICES.inc_by(invoices);
            info!(closed, invoices, "Billed {closed} months with {invoices} invoices");
        }
        COMMITTED.hit().await?;
        Ok(if is_full || closed > 0 { TickOutcome::now(closed) } else { TickOutcome::idle(closed) })
    }
}
