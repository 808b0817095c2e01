//! Creates a tenant.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;

/// Stores a tenant; false when the name is taken.
///
/// # Errors
/// When the weight is not above 0 and at most 1000, or the database cannot answer.
pub async fn create(
    db: &AdminDb,
    id: TenantId,
    name: &str,
    weight: f64,
) -> Result<bool, StoreError> {
    let query = sqlx::query!(
        "insert into tenant (id, name, weight) values ($1, $2, $3) on conflict (name) do nothing",
        id.uuid(),
        name,
        weight
    );
    Ok(named("tenant.create", query.execute(db.pool())).await?.rows_affected() == 1)
}
