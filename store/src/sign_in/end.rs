//! Signs a user out of one place.

use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::{SignInId, UserId};
use serde_json::json;

/// Ends a sign-in of this user, by the route `action`; false when there is none that is not over already.
///
/// # Errors
/// When the database cannot answer.
pub async fn end(
    db: &ApiDb,
    scope: &TenantScope,
    user: UserId,
    id: SignInId,
    action: AuditAction,
) -> Result<bool, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let query = sqlx::query!(
        "update sign_in set ended_at = now()
            where tenant_id = $1 and user_id = $2 and id = $3 and ended_at is null and expires_at > now()",
        scope.tenant().uuid(),
        user.uuid(),
        id.uuid()
    );
    let ended = named("sign_in.end", query.execute(&mut *tx)).await?.rows_affected() == 1;
    if ended {
        let act = Act::new(action, id).from(json!({"user": user}));
        audit::record(&mut tx, scope, act).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(ended)
}
