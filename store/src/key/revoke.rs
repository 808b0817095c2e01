//! Ends keys at once. Each api process forgets them within the life of its cache.

use super::info::{KeyInfo, KeyRow};
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::access::ScopeSet;
use domain::id::UserId;
use sqlx::PgConnection;

/// Revokes a key; only one that `user` made, where one is given. `None` when there is none that is not revoked already.
///
/// # Errors
/// When the database cannot answer.
pub async fn revoke(
    db: &ApiDb,
    scope: &TenantScope,
    user: Option<UserId>,
    key_id: &str,
) -> Result<Option<KeyInfo>, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let query = sqlx::query_as!(
        KeyRow,
        "update api_key set revoked_at = now()
            where tenant_id = $1 and id = $2 and revoked_at is null and ($3::uuid is null or user_id = $3)
            returning id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by",
        scope.tenant().uuid(),
        key_id,
        user.map(UserId::uuid)
    );
    let Some(revoked) = named("key.revoke", query.fetch_optional(&mut *tx)).await? else {
        return Ok(None);
    };
    let revoked: KeyInfo = revoked.try_into()?;
    let act = Act::new(AuditAction::KeyRevoke, &revoked.id).from(revoked.audit_value());
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(Some(revoked))
}

/// Revokes the keys that a user made and that may do more than `kept`; says which. Part of a change of the user's role.
///
/// # Errors
/// When the database cannot answer.
pub(crate) async fn revoke_of_user(
    tx: &mut PgConnection,
    scope: &TenantScope,
    user: UserId,
    kept: ScopeSet,
) -> Result<Vec<String>, StoreError> {
    let kept: Vec<String> = kept.iter().map(|scope| scope.to_string()).collect();
    let query = sqlx::query_scalar!(
        "update api_key set revoked_at = now()
            where tenant_id = $1 and user_id = $2 and revoked_at is null and not scopes <@ $3 returning id",
        scope.tenant().uuid(),
        user.uuid(),
        &kept
    );
    named("key.revoke_of_user", query.fetch_all(tx)).await
}
