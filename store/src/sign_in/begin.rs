//! Signs a user in.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{SignInId, TenantId, UserId};
use std::time::Duration;

/// A sign-in to store.
#[derive(Debug, Clone)]
pub struct NewSignIn {
    /// Its id.
    pub id: SignInId,
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// The user's version when the password was checked.
    pub token_version: i32,
    /// SHA-256 of its first refresh token.
    pub refresh_hash: [u8; 32],
    /// How long it lives unless it is refreshed.
    pub life: Duration,
}

/// Stores a sign-in and its first refresh token, in one statement.
///
/// # Errors
/// When the database cannot answer.
pub async fn begin(db: &SubmitDb, new: NewSignIn) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with begun as (
                insert into sign_in (id, tenant_id, user_id, token_version, expires_at)
                values ($1, $2, $3, $4, now() + $6 * interval '1 second') returning id, tenant_id)
            insert into refresh_token (hash, tenant_id, sign_in_id) select $5, tenant_id, id from begun",
        new.id.uuid(),
        new.tenant.uuid(),
        new.user.uuid(),
        new.token_version,
        &new.refresh_hash[..],
        new.life.as_secs_f64()
    );
    named("sign_in.begin", query.execute(db.pool())).await.map(|_| ())
}
