//! Creates a key for its own tenant.

use super::NewKey;
use super::info::{KeyInfo, KeyRow};
use crate::actor;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::idempotency::{self, IdempotencyKey, Once};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::access::{Role, ScopeSet};
use domain::id::UserId;
use sqlx::PgConnection;

/// A key to make, by its tenant.
#[derive(Debug, Clone)]
pub struct NewOwnKey {
    /// The key.
    pub key: NewKey,
    /// The user who makes it, or whose key does.
    pub user: Option<UserId>,
}

/// What became of a key to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// It is there.
    Done(Box<KeyInfo>),
    /// The role of the user, which may have changed a moment ago, does not give these scopes, or the user is gone.
    MayNot,
    /// The key or the sign-in of whoever makes it ended a moment ago.
    ActorEnded,
}

/// Stores a key of `scope`'s tenant. `answer` writes what a repeated request is answered: the secret must not be in it.
///
/// # Errors
/// When the database cannot answer.
pub async fn create_own(
    db: &ApiDb,
    scope: &TenantScope,
    NewOwnKey { key, user }: NewOwnKey,
    once: Option<&IdempotencyKey>,
    answer: impl FnOnce(&KeyInfo) -> Vec<u8>,
) -> Result<Once<Created>, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    if let Some(before) = idempotency::answered_before(&mut tx, scope, once).await? {
        return Ok(before);
    }
    if let Some(user) = user
        && !may_give(&mut tx, scope, user, &key.scopes).await?
    {
        return Ok(Once::Done(Created::MayNot));
    }
    if !actor::is_live(&mut tx, scope).await? {
        return Ok(Once::Done(Created::ActorEnded));
    }
    let query = sqlx::query_as!(
        KeyRow,
        "insert into api_key (id, tenant_id, name, hash, scopes, expires_at, user_id) values ($1, $2, $3, $4, $5, $6, $7)
            returning id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by",
        key.id,
        scope.tenant().uuid(),
        key.name,
        key.hash,
        &key.scopes,
        key.expires_at,
        user.map(UserId::uuid)
    );
    let made: KeyInfo = named("key.create_own", query.fetch_one(&mut *tx)).await?.try_into()?;
    let act = Act::new(AuditAction::KeyCreate, &made.id).to(made.audit_value());
    audit::record(&mut tx, scope, act).await?;
    if let Some(once) = once {
        idempotency::put_answer(&mut tx, scope, once, 201, &answer(&made)).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(Once::Done(Created::Done(Box::new(made))))
}

/// The lock holds a change of the role off until the key is there, and is then revoked with the others.
pub(super) async fn may_give(
    tx: &mut PgConnection,
    scope: &TenantScope,
    user: UserId,
    scopes: &[String],
) -> Result<bool, StoreError> {
    let query = sqlx::query_scalar!(
        "select role from app_user where tenant_id = $1 and id = $2 and state = 'active' for share",
        scope.tenant().uuid(),
        user.uuid()
    );
    let role = named("key.maker", query.fetch_optional(tx)).await?;
    let role: Option<Role> = role.and_then(|role| role.parse().ok());
    let given = role.map(|role| ScopeSet::within(role.permissions())).unwrap_or_default();
    Ok(ScopeSet::from_names(scopes).iter().all(|scope| given.contains(scope)))
}
