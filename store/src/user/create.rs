//! Creates a user, with a password or with an invitation to set one.

use super::info::{UserInfo, UserRow};
use crate::actor;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::idempotency::{self, IdempotencyKey, Once};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::access::Role;
use domain::id::UserId;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// How a new user will come in.
#[derive(Debug, Clone)]
pub enum Entry {
    /// With this password; its Argon2id hash as a PHC string.
    Password(String),
    /// With a one-time token.
    Invitation {
        /// SHA-256 of the token.
        hash: [u8; 32],
        /// When it stops being good.
        expires_at: Timestamp,
    },
}

/// A user to store.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// The user's id.
    pub id: UserId,
    /// Lower case.
    pub email: String,
    /// What the user may do.
    pub role: Role,
    /// How the user will come in.
    pub entry: Entry,
}

/// What became of a user to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The user is there.
    Done(UserInfo),
    /// Another user of the tenant has the address.
    EmailTaken,
    /// The key or the sign-in of whoever creates the user ended a moment ago.
    ActorEnded,
}

/// Stores a user of `scope`'s tenant. `answer` writes what a repeated request is answered: no secret may be in it.
///
/// # Errors
/// When the database cannot answer.
pub async fn create(
    db: &ApiDb,
    scope: &TenantScope,
    user: NewUser,
    once: Option<&IdempotencyKey>,
    answer: impl FnOnce(&UserInfo) -> Vec<u8>,
) -> Result<Once<Created>, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    if let Some(before) = idempotency::answered_before(&mut tx, scope, once).await? {
        return Ok(before);
    }
    if !actor::is_live(&mut tx, scope).await? {
        return Ok(Once::Done(Created::ActorEnded));
    }
    let Some(made) = insert(&mut tx, scope, &user, AuditAction::UserCreate).await? else {
        return Ok(Once::Done(Created::EmailTaken));
    };
    if let Some(once) = once {
        idempotency::put_answer(&mut tx, scope, once, 201, &answer(&made)).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(Once::Done(Created::Done(made)))
}

/// Stores a user, and tells the audit of the `action`; `None` where another one has the address.
pub(super) async fn insert(
    tx: &mut PgConnection,
    scope: &TenantScope,
    user: &NewUser,
    action: AuditAction,
) -> Result<Option<UserInfo>, StoreError> {
    let (state, password, invite) = match &user.entry {
        Entry::Password(hash) => ("active", Some(hash.as_str()), None),
        Entry::Invitation { hash, expires_at } => ("invited", None, Some((&hash[..], *expires_at))),
    };
    let query = sqlx::query_as!(
        UserRow,
        "insert into app_user (id, tenant_id, email, role, state, password_hash, invite_hash, invite_expires_at)
            values ($1, $2, $3, $4, $5, $6, $7, $8)
            on conflict (tenant_id, email) where state <> 'removed' do nothing
            returning id, version, email, role, state, created_at",
        user.id.uuid(),
        scope.tenant().uuid(),
        user.email,
        user.role.as_str(),
        state,
        password,
        invite.map(|(hash, _)| hash),
        invite.map(|(_, expires_at)| expires_at)
    );
    let Some(row) = named("user.create", query.fetch_optional(&mut *tx)).await? else {
        return Ok(None);
    };
    let made: UserInfo = row.try_into()?;
    let act = Act::new(action, made.id).to(made.audit_value());
    audit::record(tx, scope, act).await?;
    Ok(Some(made))
}
