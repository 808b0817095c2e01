//! Reads one key of a tenant.

use super::info::{KeyInfo, KeyRow};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::UserId;

/// A key that was not revoked; only one that `user` made, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    user: Option<UserId>,
    key_id: &str,
) -> Result<Option<KeyInfo>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        KeyRow,
        "select id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by from api_key
            where tenant_id = $1 and id = $2 and revoked_at is null and ($3::uuid is null or user_id = $3)",
        scope.tenant().uuid(),
        key_id,
        user.map(UserId::uuid)
    );
    let row = named("key.get", query.fetch_optional(&mut *tx)).await?;
    row.map(TryInto::try_into).transpose()
}
