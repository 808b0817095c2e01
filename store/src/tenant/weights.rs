//! The tenants' weights, for the batcher.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::TenantId;

/// Weights that differ from 1.
///
/// # Errors
/// When the database cannot answer.
pub async fn weights(db: &SchedulerDb) -> Result<Vec<(TenantId, f64)>, StoreError> {
    let query = sqlx::query!("select id, weight from tenant where weight <> 1 limit 100000");
    let rows = named("tenant.weights", query.fetch_all(db.pool())).await?;
    Ok(rows.into_iter().map(|row| (TenantId(row.id), row.weight)).collect())
}
