//! How much output is kept of each tenant: figures that the storing statement writes, day by day.

use crate::connect::{ApiDb, SchedulerDb};
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};

/// Bytes of output kept for the tenant.
///
/// # Errors
/// When the database cannot answer.
pub async fn kept(db: &ApiDb, scope: &TenantScope) -> Result<u64, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        r#"select coalesce(sum(bytes), 0)::bigint as "bytes!" from output_use where tenant_id = $1"#,
        scope.tenant().uuid()
    );
    Ok(named("output.kept", query.fetch_one(&mut *tx)).await?.unsigned_abs())
}

/// Forgets days whose output was dropped, `retention_days` after they ended, and up to `limit` refusals as old.
///
/// # Errors
/// When the database cannot answer.
pub async fn forget(db: &SchedulerDb, retention_days: u32, limit: i64) -> Result<u64, StoreError> {
    let days = i32::try_from(retention_days).unwrap_or(i32::MAX);
    let query = sqlx::query!(
        "with days as (
            delete from output_use where day < (now() at time zone 'UTC')::date - $1::integer
        )
        delete from output_refused where ctid = any (array(
            select r.ctid from output_refused r
            where r.at < ((now() at time zone 'UTC')::date - $1::integer)::timestamp at time zone 'UTC'
            order by r.at limit $2))",
        days,
        limit
    );
    Ok(patient("output.forget", query.execute(db.pool())).await?.rows_affected())
}
