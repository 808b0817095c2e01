//! Being signed in.

use domain::id::{TenantId, UserId};
use domain::time::Timestamp;
use serde::Deserialize;

/// A user who has just signed in. Its tokens do not show in `Debug`.
#[derive(Clone, Deserialize)]
pub struct Session {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// Good for some minutes, wherever an API key is.
    pub access_token: String,
}

/// A user whose password was just set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AcceptedUser {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// The address to sign in with.
    pub email: String,
}

/// Who a credential belongs to, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WhoAmI {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name.
    pub tenant_name: Option<String>,
    /// How the tenant stands: `active` or `suspended`.
    pub tenant_state: String,
    /// The API key, where it is one.
    pub key: Option<WhichKey>,
    /// The user, where it is one who is signed in.
    pub user: Option<WhichUser>,
    /// What it may do.
    pub permissions: Vec<String>,
}

/// An API key, as it sees itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WhichKey {
    /// Its public part.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// On whose behalf it was made.
    pub user: Option<UserId>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

/// A user, as they see themselves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WhichUser {
    /// The user's id.
    pub id: UserId,
    /// The address to sign in with.
    pub email: String,
    /// What the user may do.
    pub role: String,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("tenant", &self.tenant)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
