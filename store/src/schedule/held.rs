//! How many schedules a tenant has.

use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};

/// Schedules of the tenant, counted up to `most`.
///
/// # Errors
/// When the database cannot answer.
pub async fn held(db: &ApiDb, scope: &TenantScope, most: u32) -> Result<u64, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        r#"select count(*) as "held!" from (select from schedule s where s.tenant_id = $1 and s.deleted_at is null limit $2) held"#,
        scope.tenant().uuid(),
        i64::from(most)
    );
    let held = named("schedule.held", query.fetch_all(&mut *tx)).await?;
    Ok(held.first().map_or(0, |held| held.unsigned_abs()))
}
