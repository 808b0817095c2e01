//! Warnings that a quota is nearly used up: one a crossing, however many processes see it.

use crate::connect::{ApiDb, SchedulerDb, SubmitDb};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::plan::Quota;
use domain::time::Timestamp;

/// Something a tenant should know of.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantEvent {
    /// When.
    pub at: Timestamp,
    /// What, such as `quota_nearly_used`.
    pub kind: String,
    /// Its particulars, a JSON object.
    pub detail_json: String,
}

/// Says on which side of the line the tenant is; true where that is news that it is above. Whoever says the same again
/// changes nothing.
///
/// # Errors
/// When the database cannot answer.
pub async fn quota_level(
    db: &SubmitDb,
    scope: &TenantScope,
    quota: Quota,
    (used, limit): (u64, u64),
    above: bool,
) -> Result<bool, StoreError> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let query = sqlx::query_scalar!(
        r#"with crossed as (
                insert into tenant_quota_level as l (tenant_id, quota, above)
                -- Who was never above need not be remembered as below.
                select $1::uuid, $2::text, $3::boolean where $3 or exists (
                    select from tenant_quota_level b where b.tenant_id = $1 and b.quota = $2)
                on conflict (tenant_id, quota) do update set above = $3 where l.above <> $3
                returning l.above
            ), told as (
                insert into tenant_event (tenant_id, kind, detail)
                select $1::uuid, 'quota_nearly_used', jsonb_build_object('quota', $2::text, 'used', $4::bigint, 'limit', $5::bigint)
                from crossed where above
                returning 1
            )
            select exists (select from told) as "news!""#,
        scope.tenant().uuid(),
        quota.as_str(),
        above,
        number(used),
        number(limit)
    );
    named("tenant.quota_level", query.fetch_one(db.pool())).await
}

/// The tenant's latest events, newest first, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn events(
    db: &ApiDb,
    scope: &TenantScope,
    limit: u32,
) -> Result<Vec<TenantEvent>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select at, kind, detail::text as "detail!" from tenant_event where tenant_id = $1 order by at desc, id desc limit $2"#,
        scope.tenant().uuid(),
        i64::from(limit)
    );
    let rows = named("tenant.events", query.fetch_all(&mut *tx)).await?;
    Ok(rows
        .into_iter()
        .map(|row| TenantEvent { at: row.at, kind: row.kind, detail_json: row.detail })
        .collect())
}

/// Deletes events that are older than `retention_days`, at most `limit`; says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune_events(
    db: &SchedulerDb,
    retention_days: u32,
    limit: i64,
) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "delete from tenant_event where ctid = any (array(
            select o.ctid from tenant_event o where o.at < now() - make_interval(days => $1) order by o.at limit $2))",
        i32::try_from(retention_days).unwrap_or(i32::MAX),
        limit
    );
    Ok(named("tenant.prune_events", query.execute(db.pool())).await?.rows_affected())
}

/// The plan a tenant is on, by name.
///
/// # Errors
/// When the database cannot answer.
pub async fn plan_name(db: &ApiDb, scope: &TenantScope) -> Result<Option<String>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!("select plan from tenant where id = $1", scope.tenant().uuid());
    named("tenant.plan_name", query.fetch_optional(&mut *tx)).await
}
