//! Purges deleted tenants: one small statement at a time, each of which may be killed and repeated.
//!
//! Called by the scheduler's housekeeping. Which rows go is decided in the database (`berth_tenant_purge`), which touches only
//! tenants that were deleted longer ago than their grace and have no live task: no mistake here can delete anything else.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::SchedulerDb;
use crate::statement::{named, patient};
use domain::id::TenantId;
use std::time::Duration;

/// In this order: what still writes before what is largest; the name goes after them, which says that all is gone. Specs go with
/// their history; those that outlived it come after.
const PARTS: [&str; 10] = [
    "schedule",
    "schedule_fire",
    "task_event",
    "task_output",
    "task_result",
    "attempt",
    "task_history",
    "task_spec",
    "idempotency",
    "others",
];

/// A deleted tenant that there is something to do about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedTenant {
    /// The tenant.
    pub tenant: TenantId,
    /// Tasks of it have not ended: they are to be cancelled first. Otherwise its grace is over.
    pub has_tasks: bool,
}

/// Deleted tenants that have live tasks, or whose grace is over; the longest deleted first, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn deleted(
    db: &SchedulerDb,
    grace: Duration,
    limit: i64,
) -> Result<Vec<DeletedTenant>, StoreError> {
    let query = sqlx::query!(
        r#"select d.id as "id!", d.has_tasks as "has_tasks!" from (
                select t.id, t.deleted_at, l.id is not null as has_tasks from tenant t
                left join lateral (
                        -- All of a tenant, up to the first. An `exists` may be planned as one look at all tasks.
                        select f.id from task f where f.tenant_id = t.id limit 1) l on true
                where t.state = 'deleted' and t.purged_at is null) d
            where d.has_tasks or d.deleted_at <= now() - $1 * interval '1 second'
            order by d.has_tasks desc, d.deleted_at limit $2"#,
        grace.as_secs_f64(),
        limit
    );
    let rows = named("tenant.deleted", query.fetch_all(db.pool())).await?;
    let found = |tenant, has_tasks| DeletedTenant { tenant: TenantId(tenant), has_tasks };
    Ok(rows.into_iter().map(|row| found(row.id, row.has_tasks)).collect())
}

/// The last step of a purge: the tenant's name goes, its audit is told, and all is done.
pub const LAST_PART: &str = "tenant";

/// Takes one step of a tenant's purge: up to `limit` rows of the first part that has any. Says which part that was; `None`: there
/// is nothing to do, or another does it.
///
/// # Errors
/// When the database cannot answer; then the step has not happened.
pub async fn purge(
    db: &SchedulerDb,
    tenant: TenantId,
    grace: Duration,
    limit: i32,
) -> Result<Option<&'static str>, StoreError> {
    for part in PARTS.into_iter().chain([LAST_PART]) {
        let mut tx = named("begin", db.pool().begin()).await?;
        let query = sqlx::query_scalar!(
            r#"select berth_tenant_purge($1, $2, $3 * interval '1 second', $4) as "rows!""#,
            part,
            tenant.uuid(),
            grace.as_secs_f64(),
            limit
        );
        if patient("tenant.purge", query.fetch_one(&mut *tx)).await? > 0 {
            if part == LAST_PART {
                let act = Act::new(AuditAction::TenantPurge, tenant);
                audit::write(&mut tx, tenant, By::SYSTEM, act).await?;
            }
            named("commit", tx.commit()).await?;
            return Ok(Some(part));
        }
    }
    Ok(None)
}
