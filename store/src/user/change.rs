//! Gives a user another role, or removes one.
//!
//! In one transaction with what follows: keys that the user made and could not make any more are revoked, and who is removed is
//! signed out everywhere. A tenant's owners are locked first, in one order, so that two changes at once cannot take the last
//! two of them.

use super::info::{UserInfo, UserRow};
use crate::actor;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::access::{Permission, PermissionSet, Role, ScopeSet};
use domain::id::UserId;
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Give this role.
    Role(Role),
    /// Remove the user.
    Remove,
}

/// A change of one user, asked for by somebody who may do `permissions`.
#[derive(Debug, Clone, Copy)]
pub struct WantedChange {
    /// The user.
    pub user: UserId,
    /// Only in this version; `None`: in any.
    pub if_version: Option<i64>,
    /// What to do.
    pub change: Change,
    /// What whoever asks may do.
    pub permissions: PermissionSet,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// The user as they are now, or were when removed.
    Done(UserInfo),
    /// Nobody would be left who may do everything.
    LastOwner,
    /// The user is in this version, and not in the one that was asked for.
    VersionMismatch {
        /// The version.
        version: i64,
    },
    /// The user is an owner, and whoever asks may not change owners.
    Mightier,
    /// There is no such user.
    NotFound,
    /// The key or the sign-in of whoever asks ended a moment ago.
    ActorEnded,
}

/// Changes a user.
///
/// # Errors
/// When the database cannot answer.
pub async fn change(
    db: &ApiDb,
    scope: &TenantScope,
    wanted: WantedChange,
) -> Result<Changed, StoreError> {
    let WantedChange { user, if_version, change, permissions } = wanted;
    let mut tx = crate::task::scoped(db, scope).await?;
    let owners = lock_owners(&mut tx, scope).await?;
    let Some(before) = lock(&mut tx, scope, user).await? else { return Ok(Changed::NotFound) };
    let version = before.version;
    if if_version.is_some_and(|wanted| wanted != version) {
        return Ok(Changed::VersionMismatch { version });
    }
    let action = match change {
        Change::Role(_) => AuditAction::UserChange,
        Change::Remove => AuditAction::UserRemove,
    };
    let asked = Asked { change, permissions, action };
    let changed = apply(&mut tx, scope, (&owners, before), asked).await?;
    if let Changed::Done(_) = changed {
        named("commit", tx.commit()).await?;
    }
    Ok(changed)
}

/// What is asked for, by somebody who may do `permissions`.
pub(super) struct Asked {
    pub change: Change,
    pub permissions: PermissionSet,
    /// As the audit names it.
    pub action: AuditAction,
}

/// Changes a user who is locked, as are the `owners`. Only what is `Done` is to be committed.
pub(super) async fn apply(
    tx: &mut PgConnection,
    scope: &TenantScope,
    (owners, before): (&[Uuid], UserInfo),
    Asked { change, permissions, action }: Asked,
) -> Result<Changed, StoreError> {
    if !actor::is_live(tx, scope).await? {
        return Ok(Changed::ActorEnded);
    }
    if before.role == Role::Owner && !permissions.contains(Permission::ManageOwners) {
        return Ok(Changed::Mightier);
    }
    let user = before.id;
    if owners == [user.uuid()] && change != Change::Role(Role::Owner) {
        return Ok(Changed::LastOwner);
    }
    let was = before.audit_value();
    let (done, kept) = match change {
        Change::Role(role) => {
            (give(tx, scope, user, role).await?, ScopeSet::within(role.permissions()))
        }
        Change::Remove => {
            remove(tx, scope, user).await?;
            (before, ScopeSet::default())
        }
    };
    let revoked = crate::key::revoke_of_user(tx, scope, user, kept).await?;
    let after = match change {
        Change::Role(_) => {
            json!({"email": done.email, "role": done.role, "state": done.state.as_str(), "revoked_keys": revoked})
        }
        Change::Remove => json!({"revoked_keys": revoked}),
    };
    audit::record(tx, scope, Act::new(action, user).from(was).to(after)).await?;
    Ok(Changed::Done(done))
}

/// The active owners, to the end of the transaction. Locked before any user, so that of two last owners one stays.
pub(super) async fn lock_owners(
    tx: &mut PgConnection,
    scope: &TenantScope,
) -> Result<Vec<Uuid>, StoreError> {
    let owners = sqlx::query_scalar!(
        "select id from app_user where tenant_id = $1 and role = 'owner' and state = 'active'
            order by id for no key update",
        scope.tenant().uuid()
    );
    named("user.lock_owners", owners.fetch_all(tx)).await
}

pub(super) async fn lock(
    tx: &mut PgConnection,
    scope: &TenantScope,
    user: UserId,
) -> Result<Option<UserInfo>, StoreError> {
    let query = sqlx::query_as!(
        UserRow,
        "select id, version, email, role, state, created_at from app_user
            where tenant_id = $1 and id = $2 and state <> 'removed' for no key update",
        scope.tenant().uuid(),
        user.uuid()
    );
    let row = named("user.lock", query.fetch_optional(tx)).await?;
    row.map(TryInto::try_into).transpose()
}

async fn give(
    tx: &mut PgConnection,
    scope: &TenantScope,
    user: UserId,
    role: Role,
) -> Result<UserInfo, StoreError> {
    let query = sqlx::query_as!(
        UserRow,
        "update app_user set role = $3 where tenant_id = $1 and id = $2
            returning id, version, email, role, state, created_at",
        scope.tenant().uuid(),
        user.uuid(),
        role.as_str()
    );
    named("user.give_role", query.fetch_one(tx)).await?.try_into()
}

async fn remove(
    tx: &mut PgConnection,
    scope: &TenantScope,
    user: UserId,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update app_user set state = 'removed', password_hash = null, invite_hash = null,
                invite_expires_at = null, token_version = token_version + 1
            where tenant_id = $1 and id = $2",
        scope.tenant().uuid(),
        user.uuid()
    );
    named("user.remove", query.execute(&mut *tx)).await?;
    let sign_out = sqlx::query!(
        "update sign_in set ended_at = now() where tenant_id = $1 and user_id = $2 and ended_at is null",
        scope.tenant().uuid(),
        user.uuid()
    );
    named("sign_in.end_of_user", sign_out.execute(tx)).await.map(|_| ())
}
