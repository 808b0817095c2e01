//! Remembers when operators' keys were last used.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;

/// Marks keys as used now. Called in batches, off the request path; rows touched within the last
/// 20 seconds are left alone.
///
/// # Errors
/// When the database cannot answer.
pub async fn touch_last_used(db: &AdminDb, key_ids: &[String]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update operator_key set last_used_at = now()
            where id = any($1) and (last_used_at is null or last_used_at < now() - interval '20 seconds')",
        key_ids
    );
    named("operator_key.touch_last_used", query.execute(db.pool())).await.map(|_| ())
}
