//! Reads one user of a tenant, by id or by address.

use super::info::{UserInfo, UserRow};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::UserId;

/// The user of this id, where they were not removed.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    user: UserId,
) -> Result<Option<UserInfo>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        UserRow,
        "select id, version, email, role, state, created_at from app_user
            where tenant_id = $1 and id = $2 and state <> 'removed'",
        scope.tenant().uuid(),
        user.uuid()
    );
    let row = named("user.get", query.fetch_optional(&mut *tx)).await?;
    row.map(TryInto::try_into).transpose()
}

/// The user with this address in lower case, where they were not removed.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_by_email(
    db: &ApiDb,
    scope: &TenantScope,
    email: &str,
) -> Result<Option<UserInfo>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        UserRow,
        "select id, version, email, role, state, created_at from app_user
            where tenant_id = $1 and email = $2 and state <> 'removed'",
        scope.tenant().uuid(),
        email
    );
    let row = named("user.find_by_email", query.fetch_optional(&mut *tx)).await?;
    row.map(TryInto::try_into).transpose()
}
