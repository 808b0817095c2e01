//! How much of its quotas a tenant holds, from the rows themselves.

use crate::connect::CountDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};

/// What a tenant holds now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holding {
    /// Tasks that have not ended.
    pub backlog: u64,
    /// Of these, tasks queued, running or cancelling.
    pub running_tasks: u64,
}

/// Counts what the tenant holds, up to `most` tasks: beyond that the figures are only a lower bound.
///
/// # Errors
/// When the database cannot answer, or takes longer than a read may.
pub async fn holding(db: &CountDb, scope: &TenantScope, most: u64) -> Result<Holding, StoreError> {
    let mut tx = db.begin().await?;
    let query = sqlx::query!(
        r#"select count(*) as "backlog!", count(*) filter (where t.state in ('queued', 'running', 'cancelling')) as "running!"
            from (
                -- All of a tenant, up to the limit.
                select l.state from task l where l.tenant_id = $1 limit $2) t"#,
        scope.tenant().uuid(),
        i64::try_from(most).unwrap_or(i64::MAX)
    );
    let rows = named("tenant.holding", query.fetch_all(&mut *tx)).await?;
    Ok(rows.first().map_or_else(Holding::default, |row| Holding {
        backlog: row.backlog.unsigned_abs(),
        running_tasks: row.running.unsigned_abs(),
    }))
}
