//! A tenant's keys, newest first.

use super::info::{KeyInfo, KeyRow};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::UserId;
use domain::time::Timestamp;

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPosition {
    /// When the last key was made.
    pub created_at: Timestamp,
    /// Its id.
    pub id: String,
}

/// Keys that were not revoked, expired ones too; only those that `user` made, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    user: Option<UserId>,
    after: Option<&KeyPosition>,
    limit: u32,
) -> Result<Vec<KeyInfo>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        KeyRow,
        "select id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by from api_key
            where tenant_id = $1 and revoked_at is null and ($2::uuid is null or user_id = $2)
                and ($3::timestamptz is null or (created_at, id) < ($3, $4))
            order by created_at desc, id desc limit $5",
        scope.tenant().uuid(),
        user.map(UserId::uuid),
        after.map(|position| position.created_at),
        after.map(|position| position.id.as_str()),
        i64::from(limit)
    );
    let rows = patient("key.list", query.fetch_all(&mut *tx)).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}
