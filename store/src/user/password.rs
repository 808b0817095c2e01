//! A user's own password: what it is compared with, and the change of it.

use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::{SignInId, UserId};
use serde_json::json;

/// The hash of an active user's password; `None` when there is no such user.
///
/// # Errors
/// When the database cannot answer.
pub async fn password_hash(
    db: &ApiDb,
    scope: &TenantScope,
    user: UserId,
) -> Result<Option<String>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        "select password_hash from app_user where tenant_id = $1 and id = $2 and state = 'active'",
        scope.tenant().uuid(),
        user.uuid()
    );
    Ok(named("user.password_hash", query.fetch_optional(&mut *tx)).await?.flatten())
}

/// A user's new password.
#[derive(Debug, Clone, Copy)]
pub struct NewPassword<'a> {
    /// The user.
    pub user: UserId,
    /// The sign-in that asks.
    pub sign_in: SignInId,
    /// Hash of the password that it replaces.
    pub old_hash: &'a str,
    /// Its hash.
    pub new_hash: &'a str,
}

/// Replaces the password and ends the user's sign-ins but the one that asks; says how many, or `None` when the password is another
/// by now.
///
/// # Errors
/// When the database cannot answer.
pub async fn change_password(
    db: &ApiDb,
    scope: &TenantScope,
    password: NewPassword<'_>,
) -> Result<Option<u64>, StoreError> {
    let NewPassword { user, sign_in, old_hash, new_hash } = password;
    let mut tx = crate::task::scoped(db, scope).await?;
    // What signs in at this moment with the old password is of the old version: over as soon as it begins.
    let change = sqlx::query_scalar!(
        "update app_user set password_hash = $4, token_version = token_version + 1
            where tenant_id = $1 and id = $2 and state = 'active' and password_hash = $3 returning token_version",
        scope.tenant().uuid(),
        user.uuid(),
        old_hash,
        new_hash
    );
    let version = named("user.change_password", change.fetch_optional(&mut *tx)).await?;
    let Some(version) = version else { return Ok(None) };
    let go_on = sqlx::query!(
        "update sign_in set token_version = $3 where tenant_id = $1 and id = $2",
        scope.tenant().uuid(),
        sign_in.uuid(),
        version
    );
    named("sign_in.go_on", go_on.execute(&mut *tx)).await?;
    let end = sqlx::query!(
        "update sign_in set ended_at = now()
            where tenant_id = $1 and user_id = $2 and id <> $3 and ended_at is null and expires_at > now()",
        scope.tenant().uuid(),
        user.uuid(),
        sign_in.uuid()
    );
    let ended = named("sign_in.end_others", end.execute(&mut *tx)).await?.rows_affected();
    let act = Act::new(AuditAction::SessionPassword, user).to(json!({"ended_sessions": ended}));
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(Some(ended))
}
