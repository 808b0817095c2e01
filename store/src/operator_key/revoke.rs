//! Ends an operator's key at once. Each api process forgets it within the life of its cache.

use super::OperatorKeyInfo;
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;

/// Revokes a key, in the request of `by`; `None` when there is none that is not revoked already.
///
/// # Errors
/// When the database cannot answer.
pub async fn revoke(
    db: &AdminDb,
    key_id: &str,
    by: By,
) -> Result<Option<OperatorKeyInfo>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query_as!(
        OperatorKeyInfo,
        "update operator_key set revoked_at = now() where id = $1 and revoked_at is null
            returning id, name, scopes, created_at, expires_at, last_used_at, replaced_by",
        key_id
    );
    let Some(revoked) = named("operator_key.revoke", query.fetch_optional(&mut *tx)).await? else {
        return Ok(None);
    };
    let act = Act::new(AuditAction::OperatorKeyRevoke, &revoked.id).from(revoked.audit_value());
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Some(revoked))
}
