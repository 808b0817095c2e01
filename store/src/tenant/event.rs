//! What a tenant is told of: that a quota is nearly used up (`watch`), and on which plan it is.

use crate::connect::{ApiDb, SchedulerDb};
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
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
    let rows = patient("tenant.events", query.fetch_all(&mut *tx)).await?;
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
    Ok(patient("tenant.prune_events", query.execute(db.pool())).await?.rows_affected())
}

/// A tenant's name.
///
/// # Errors
/// When the database cannot answer.
pub async fn name(db: &ApiDb, scope: &TenantScope) -> Result<Option<String>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!("select name from tenant where id = $1", scope.tenant().uuid());
    named("tenant.name", query.fetch_optional(&mut *tx)).await.map(Option::flatten)
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
