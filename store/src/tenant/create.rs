//! Creates a tenant.

use crate::StoreError;
use crate::audit::{self, Act, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;
use serde_json::json;

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
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query!(
        "insert into tenant (id, name, weight) values ($1, $2, $3) on conflict (name) do nothing",
        id.uuid(),
        name,
        weight
    );
    if named("tenant.create", query.execute(&mut *tx)).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let act = Act::new("tenant.create", "tenant", id).to(json!({"name": name, "weight": weight}));
    audit::told_in(tx, id, By::SYSTEM, act).await?;
    Ok(true)
}
