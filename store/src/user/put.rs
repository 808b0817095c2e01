//! Stores a user under their address: a new one is invited, one who is there gets the role.

use super::change::{Asked, Change, Changed, apply, lock, lock_owners};
use super::create::{Entry, NewUser, insert};
use super::info::{UserInfo, UserRow};
use crate::actor;
use crate::audit::AuditAction;
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::access::{PermissionSet, Role};
use domain::id::UserId;
use sqlx::PgConnection;

/// In the audit.
const ACTION: AuditAction = AuditAction::UserPut;

/// Which user is to be stored.
#[derive(Debug, Clone)]
pub enum WhichUser {
    /// One who is there.
    Id(UserId),
    /// Whoever has this address, in lower case; a new one, who comes in this way, where nobody has.
    Email(String, Entry),
}

/// What became of a user who was to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserStored {
    /// The user is new.
    Created(UserInfo),
    /// The user has another role now.
    Updated(UserInfo),
    /// It was so.
    Unchanged(UserInfo),
    /// The user is in this version, and not in the one that was asked for; `None`: there is none.
    VersionMismatch {
        /// The version.
        version: Option<i64>,
    },
    /// It could not be changed, and why.
    Not(Changed),
}

/// A user to store, on behalf of somebody who may do `permissions`.
#[derive(Debug, Clone)]
pub struct PutUser {
    /// By id, or by address with the invitation of a new one.
    pub which: WhichUser,
    /// Only in this version, with 0 only where there is none; `None`: in any.
    pub if_version: Option<i64>,
    /// The role to have.
    pub role: Role,
    /// What whoever asks may do.
    pub permissions: PermissionSet,
}

/// Stores a user.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(db: &ApiDb, scope: &TenantScope, put: PutUser) -> Result<UserStored, StoreError> {
    let PutUser { which, if_version, role, permissions } = put;
    let mut tx = crate::task::scoped(db, scope).await?;
    let owners = lock_owners(&mut tx, scope).await?;
    let found = match which {
        WhichUser::Id(id) => match lock(&mut tx, scope, id).await? {
            Some(found) => Some(found),
            None => return Ok(UserStored::Not(Changed::NotFound)),
        },
        WhichUser::Email(email, entry) => {
            // Made first, so that of two who make the same user at once one finds the other's.
            if if_version.is_none_or(|version| version == 0) {
                if !actor::is_live(&mut tx, scope).await? {
                    return Ok(UserStored::Not(Changed::ActorEnded));
                }
                let new = NewUser { id: UserId::fresh(), email: email.clone(), role, entry };
                if let Some(made) = insert(&mut tx, scope, &new, ACTION).await? {
                    named("commit", tx.commit()).await?;
                    return Ok(UserStored::Created(made));
                }
            }
            lock_email(&mut tx, scope, &email).await?
        }
    };
    let version = found.as_ref().map(|found| found.version);
    let Some(before) = found.filter(|_| if_version.is_none() || if_version == version) else {
        return Ok(UserStored::VersionMismatch { version });
    };
    if before.role == role {
        return Ok(UserStored::Unchanged(before));
    }
    let asked = Asked { change: Change::Role(role), permissions, action: ACTION };
    match apply(&mut tx, scope, (&owners, before), asked).await? {
        Changed::Done(user) => {
            named("commit", tx.commit()).await?;
            Ok(UserStored::Updated(user))
        }
        not => Ok(UserStored::Not(not)),
    }
}

async fn lock_email(
    tx: &mut PgConnection,
    scope: &TenantScope,
    email: &str,
) -> Result<Option<UserInfo>, StoreError> {
    let query = sqlx::query_as!(
        UserRow,
        "select id, version, email, role, state, created_at from app_user
            where tenant_id = $1 and email = $2 and state <> 'removed' for no key update",
        scope.tenant().uuid(),
        email
    );
    let row = named("user.lock_email", query.fetch_optional(tx)).await?;
    row.map(TryInto::try_into).transpose()
}
