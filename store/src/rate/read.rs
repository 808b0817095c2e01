//! Reads what was written down.

use crate::connect::SubmitDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::rate::Hour;

/// What the tenant had submitted in `hour` when it was last written down; 0 where nothing was.
///
/// # Errors
/// When the database cannot answer.
pub async fn read(db: &SubmitDb, scope: &TenantScope, hour: Hour) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(
        "select used from rate_checkpoint where tenant_id = $1 and hour = $2",
        scope.tenant().uuid(),
        hour.start()
    );
    let used = named("rate.read", query.fetch_optional(db.pool())).await?;
    Ok(used.map_or(0, i64::unsigned_abs))
}
