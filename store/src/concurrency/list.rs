//! A tenant's stored limits, by key.

use super::limit::{ConcurrencyLimit, LimitRow};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::batch::ConcurrencyKey;

/// Limits by key, as the database sorts texts; those after `after`, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    after: Option<&ConcurrencyKey>,
    limit: u32,
) -> Result<Vec<ConcurrencyLimit>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        LimitRow,
        "select key, running, updated_at from concurrency_limit
            where tenant_id = $1 and ($2::text is null or key > $2) order by key limit $3",
        scope.tenant().uuid(),
        after.map(ConcurrencyKey::as_str),
        i64::from(limit)
    );
    let rows = patient("concurrency.list", query.fetch_all(&mut *tx)).await?;
    Ok(rows.into_iter().map(Into::into).collect())
}
