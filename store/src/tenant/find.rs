//! Finds a tenant by name.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;

/// The tenant of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_by_name(db: &AdminDb, name: &str) -> Result<Option<TenantId>, StoreError> {
    let query = sqlx::query_scalar!("select id from tenant where name = $1", name);
    Ok(named("tenant.find_by_name", query.fetch_optional(db.pool())).await?.map(TenantId))
}
