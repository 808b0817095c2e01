//! Where a user is signed in.

use super::begin::MOST_OF_A_USER;
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::{SignInId, UserId};
use domain::time::Timestamp;

/// A sign-in that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInInfo {
    /// Its id.
    pub id: SignInId,
    /// When the password was given.
    pub created_at: Timestamp,
    /// When it was last refreshed.
    pub refreshed_at: Timestamp,
    /// When it ends unless it is refreshed.
    pub expires_at: Timestamp,
}

/// The user's sign-ins, newest first: 100 at most, more are not kept.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    user: UserId,
) -> Result<Vec<SignInInfo>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        "select s.id, s.created_at, s.refreshed_at, s.expires_at
            from sign_in s join app_user u on u.tenant_id = s.tenant_id and u.id = s.user_id
            where s.tenant_id = $1 and s.user_id = $2 and s.ended_at is null and s.expires_at > now()
                and u.token_version = s.token_version
            order by s.id desc limit $3",
        scope.tenant().uuid(),
        user.uuid(),
        MOST_OF_A_USER
    );
    let rows = patient("sign_in.list", query.fetch_all(&mut *tx)).await?;
    Ok(rows
        .into_iter()
        .map(|row| SignInInfo {
            id: SignInId(row.id),
            created_at: row.created_at,
            refreshed_at: row.refreshed_at,
            expires_at: row.expires_at,
        })
        .collect())
}
