//! Whom a credential of a tenant belongs to, and what they may do.

use crate::error::IdentityError;
use crate::key::KeyId;
use crate::standing::Standing;
use domain::access::{Permission, PermissionSet, Role, Scope};
use domain::id::{SignInId, TenantId, UserId};
use domain::plan::PlanLimits;
use domain::pool::PoolUser;
use domain::tenant::TenantState;
use std::fmt;
use store::TenantScope;

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// An API key, by its public part.
    Key(KeyId),
    /// A user, signed in.
    User(UserId, SignInId),
}

impl Actor {
    /// As the audit names it.
    #[must_use]
    pub const fn audit_actor(self) -> domain::audit::Actor {
        match self {
            Self::Key(key) => domain::audit::Actor::Key(key.public()),
            Self::User(user, sign_in) => domain::audit::Actor::User(user, Some(sign_in)),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::User(user, _) => user.fmt(f),
        }
    }
}

/// An authenticated request's authority: handlers that act for a tenant take it.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) tenant: TenantId,
    pub(crate) actor: Actor,
    /// Whom the credential leads back to.
    pub(crate) user: Option<UserId>,
    pub(crate) permissions: PermissionSet,
    pub(crate) standing: Standing,
}

impl Caller {
    /// The tenant.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// What store functions ask for.
    #[must_use]
    pub const fn scope(&self) -> TenantScope {
        TenantScope::authenticated(self.tenant)
    }

    /// Who acts: recorded with what they do.
    #[must_use]
    pub const fn actor(&self) -> Actor {
        self.actor
    }

    /// The user, where it is one and no key.
    #[must_use]
    pub const fn user(&self) -> Option<UserId> {
        match self.actor {
            Actor::Key(_) => None,
            Actor::User(user, _) => Some(user),
        }
    }

    /// On whose behalf it makes keys: the user, or whoever the key was made for. They go when that user goes.
    #[must_use]
    pub const fn makes_keys_for(&self) -> Option<UserId> {
        self.user
    }

    /// Whose keys it may manage: `None` is everybody's.
    ///
    /// # Errors
    /// When that is nobody's.
    pub fn keys_of(&self) -> Result<Option<UserId>, IdentityError> {
        match (self.permissions.contains(Permission::AllKeys), self.user()) {
            (true, _) => Ok(None),
            (false, Some(user)) => self.require(Permission::OwnKeys).map(|()| Some(user)),
            (false, None) => self.require(Permission::AllKeys).map(|()| None),
        }
    }

    /// What the tenant's plan allows.
    #[must_use]
    pub const fn limits(&self) -> &PlanLimits {
        &self.standing.limits
    }

    /// For which pools of the installation it may ask: as this one.
    #[must_use]
    pub const fn pool_user(&self) -> PoolUser<'_> {
        PoolUser { tenant: self.tenant, plan: &self.standing.plan }
    }

    /// How the tenant stands; a deleted one has no caller.
    #[must_use]
    pub const fn tenant_state(&self) -> TenantState {
        self.standing.state
    }

    /// Refuses new work of a tenant that is suspended.
    ///
    /// # Errors
    /// When it is.
    pub fn require_active(&self) -> Result<(), IdentityError> {
        if self.standing.state.may_run() { Ok(()) } else { Err(IdentityError::Suspended) }
    }

    /// Everything it may do.
    #[must_use]
    pub const fn permissions(&self) -> PermissionSet {
        self.permissions
    }

    /// Refuses when it may not do this.
    ///
    /// # Errors
    /// Names what is needed.
    pub fn require(&self, permission: Permission) -> Result<(), IdentityError> {
        if self.permissions.contains(permission) {
            return Ok(());
        }
        Err(IdentityError::ScopeMissing(who_may(permission)))
    }

    /// Refuses to give a role whose permissions it does not hold.
    ///
    /// # Errors
    /// Names the role.
    pub fn may_give(&self, role: Role) -> Result<(), IdentityError> {
        if self.permissions.includes(role.permissions()) {
            return Ok(());
        }
        Err(IdentityError::ScopeMissing(format!(
            "You cannot grant the role `{role}`: you lack some of its permissions."
        )))
    }
}

/// What is needed, and who has it.
fn who_may(permission: Permission) -> String {
    let scope = Scope::ALL.into_iter().find(|s| s.permissions().contains(permission));
    let keys = scope.map_or_else(
        || "No API key has it".to_owned(),
        |scope| format!("API keys with the scope `{scope}` have it"),
    );
    let everybodys = PermissionSet::OF_EVERY_USER.with(PermissionSet::OF_EVERYBODY);
    let of_all = everybodys.contains(permission);
    let roles: Vec<&str> = Role::ALL
        .into_iter()
        .filter(|role| of_all || role.permissions().contains(permission))
        .map(Role::as_str)
        .collect();
    format!(
        "This needs the permission `{permission}`. {keys}; users need one of {}.",
        roles.join(", ")
    )
}
