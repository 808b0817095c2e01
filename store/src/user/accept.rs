//! Sets the password of an invited user, whose tenant is known by the token alone.

use crate::StoreError;
use crate::audit::{self, Act, Actor, AuditAction, By};
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{TenantId, UserId};
use serde_json::json;

/// Who came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name, with which the user signs in.
    pub tenant_name: Option<String>,
    /// The user.
    pub user: UserId,
    /// The user's address.
    pub email: String,
}

/// Whether a token with this hash is good: asked before a password is hashed for it.
///
/// # Errors
/// When the database cannot answer.
pub async fn invited(db: &SubmitDb, hash: &[u8; 32]) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select true as "invited!" from app_user u join tenant t on t.id = u.tenant_id
            where u.invite_hash = $1 and u.invite_expires_at > now() and u.state = 'invited' and t.state <> 'deleted'"#,
        &hash[..]
    );
    Ok(named("user.invited", query.fetch_optional(db.pool())).await?.is_some())
}

/// Stores the password's hash and uses the token up, in the request of `by`; `None` when it is no good any more.
///
/// # Errors
/// When the database cannot answer.
pub async fn accept(
    db: &SubmitDb,
    hash: &[u8; 32],
    password_hash: &str,
    by: By,
) -> Result<Option<Accepted>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query!(
        r#"update app_user u set state = 'active', password_hash = $2, invite_hash = null, invite_expires_at = null,
                token_version = token_version + 1
            from tenant t
            where u.invite_hash = $1 and u.invite_expires_at > now() and u.state = 'invited' and t.id = u.tenant_id and t.state <> 'deleted'
            returning u.tenant_id, t.name as "tenant_name?", u.id, u.email, u.role"#,
        &hash[..],
        password_hash
    );
    let Some(row) = named("user.accept", query.fetch_optional(&mut *tx)).await? else {
        return Ok(None);
    };
    let (tenant, user) = (TenantId(row.tenant_id), UserId(row.id));
    let details = |state: &str| json!({"email": row.email, "role": row.role, "state": state});
    let act =
        Act::new(AuditAction::SessionAccept, user).from(details("invited")).to(details("active"));
    audit::record_and_commit(tx, tenant, by.as_actor(Actor::User(user, None)), act).await?;
    Ok(Some(Accepted { tenant, tenant_name: row.tenant_name, user, email: row.email }))
}
