//! Remembers when keys were last used, well within a minute.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;

/// Marks keys as used now. Called in batches, off the request path; rows touched within the last
/// 20 seconds are left alone.
///
/// # Errors
/// When the database cannot answer.
pub async fn touch_last_used(db: &SubmitDb, key_ids: &[String]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update api_key set last_used_at = now()
            where id = any($1) and (last_used_at is null or last_used_at < now() - interval '20 seconds')",
        key_ids
    );
    named("key.touch_last_used", query.execute(db.pool())).await.map(|_| ())
}
