//! A tenant's users, newest first.

use super::info::{UserInfo, UserRow};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::UserId;

/// Users who were not removed, newest first, made before `before` where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    before: Option<UserId>,
    limit: u32,
) -> Result<Vec<UserInfo>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        UserRow,
        "select id, version, email, role, state, created_at from app_user
            where tenant_id = $1 and state <> 'removed' and ($2::uuid is null or id < $2)
            order by id desc limit $3",
        scope.tenant().uuid(),
        before.map(UserId::uuid),
        i64::from(limit)
    );
    let rows = patient("user.list", query.fetch_all(&mut *tx)).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}
