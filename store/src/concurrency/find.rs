//! Reads one limit, and what is held of it.

use super::limit::{ConcurrencyLimit, LimitRow};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::batch::ConcurrencyKey;

/// Tasks that [`held_of`] counts, at most.
pub const MOST_COUNTED: u32 = 10_000;

/// The limit that is stored for `key`.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &ApiDb,
    scope: &TenantScope,
    key: &ConcurrencyKey,
) -> Result<Option<ConcurrencyLimit>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        LimitRow,
        "select key, running, updated_at from concurrency_limit where tenant_id = $1 and key = $2",
        scope.tenant().uuid(),
        key.as_str()
    );
    let row = named("concurrency.find", query.fetch_optional(&mut *tx)).await?;
    Ok(row.map(Into::into))
}

/// Tasks of `key` queued, running or cancelling now, counted up to [`MOST_COUNTED`].
///
/// # Errors
/// When the database cannot answer.
pub async fn held_of(
    db: &ApiDb,
    scope: &TenantScope,
    key: &ConcurrencyKey,
) -> Result<u64, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        r#"select count(*) as "held!" from (
            select h.id from key_holder h where h.key = $1 limit $2) held"#,
        key.as_str(),
        i64::from(MOST_COUNTED)
    );
    let held = named("concurrency.held_of", query.fetch_one(&mut *tx)).await?;
    Ok(held.unsigned_abs())
}
