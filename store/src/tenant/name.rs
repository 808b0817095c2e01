//! What a tenant is called, and on which plan it is.

use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};

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
