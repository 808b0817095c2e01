//! Operators' keys: those that can still be used first, then the newest. They are few: one page.

use super::OperatorKeyInfo;
use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;

/// Most keys that are shown.
const LIMIT: i64 = 1000;

/// Keys that were not revoked, expired ones too; 1000 at most.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &AdminDb) -> Result<Vec<OperatorKeyInfo>, StoreError> {
    let query = sqlx::query_as!(
        OperatorKeyInfo,
        "select id, name, scopes, created_at, expires_at, last_used_at, replaced_by from operator_key
            where revoked_at is null order by coalesce(expires_at <= now(), false), created_at desc, id desc limit $1",
        LIMIT
    );
    named("operator_key.list", query.fetch_all(db.pool())).await
}
