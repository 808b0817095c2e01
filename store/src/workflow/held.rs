//! What a tenant has of what its plan limits.

use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};

/// What a tenant has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldByTenant {
    /// Definitions.
    pub workflows: u64,
    /// Runs that have not ended.
    pub runs: u64,
    /// Signals that are kept.
    pub signals: u64,
}

/// Counts up to `most` of each: definitions, runs that have not ended, and signals.
///
/// # Errors
/// When the database cannot answer.
pub async fn held(
    db: &ApiDb,
    scope: &TenantScope,
    most: [u32; 3],
) -> Result<HeldByTenant, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let [workflows, runs, signals] = most.map(i64::from);
    let query = sqlx::query!(
        r#"select
            (select count(*) from (select from workflow w where w.tenant_id = $1 limit $2) h) as "workflows!",
            (select count(*) from (
                select from workflow_run r where r.tenant_id = $1 and r.finished_at is null limit $3) h) as "runs!",
            (select count(*) from (select from workflow_signal s where s.tenant_id = $1 limit $4) h) as "signals!""#,
        scope.tenant().uuid(),
        workflows,
        runs,
        signals
    );
    let row = patient("workflow.held", query.fetch_optional(&mut *tx)).await?;
    let held = row.map(|row| HeldByTenant {
        workflows: row.workflows.unsigned_abs(),
        runs: row.runs.unsigned_abs(),
        signals: row.signals.unsigned_abs(),
    });
    Ok(held.unwrap_or_default())
}
