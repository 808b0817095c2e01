//! What is in the broker's hands of some tenants.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use domain::task::Dispatch;

/// Queued tasks of `tenants` with their dispatches; of each pool at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn queued(
    db: &SchedulerDb,
    tenants: &[TenantId],
    limit: i64,
) -> Result<Vec<Dispatch>, StoreError> {
    let tenants: Vec<_> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    let query = sqlx::query!(
        r#"select q.tenant_id as "tenant_id!", q.id as "id!", coalesce(q.dispatch_epoch, 0) as "dispatch_epoch!"
            from (select name from pool order by name limit 100000) p
            cross join lateral (select t.tenant_id, t.id, t.dispatch_epoch from task t
                where t.pool = p.name and t.state = 'queued' and t.tenant_id = any ($1) limit $2) q"#,
        &tenants,
        limit
    );
    let rows = named("task.queued", query.fetch_all(db.pool())).await?;
    let dispatches = rows.into_iter().map(|row| Dispatch {
        tenant: TenantId(row.tenant_id),
        task: TaskId(row.id),
        epoch: row.dispatch_epoch.into(),
    });
    Ok(dispatches.collect())
}
