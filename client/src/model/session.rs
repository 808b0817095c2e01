//! Sign-ins.

use domain::id::{TenantId, UserId};
use domain::time::Timestamp;
use serde::Deserialize;

/// A new sign-in. `Debug` hides its tokens.
#[derive(Clone, Deserialize)]
pub struct Session {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// Access token, valid for some minutes instead of an API key.
    pub access_token: String,
}

/// A user who has set a password.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AcceptedUser {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// E-mail address to sign in with.
    pub email: String,
}

/// Owner and permissions of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WhoAmI {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name.
    pub tenant_name: Option<String>,
    /// State of the tenant: `active` or `suspended`.
    pub tenant_state: String,
    /// The API key, if it is one.
    pub key: Option<WhichKey>,
    /// The signed-in user, if it is one.
    pub user: Option<WhichUser>,
    /// Its scopes.
    pub permissions: Vec<String>,
}

/// The API key of the request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WhichKey {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// The user who created it, if any.
    pub user: Option<UserId>,
    /// Expiry.
    pub expires_at: Option<Timestamp>,
}

/// The user of the request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WhichUser {
    /// The user's id.
    pub id: UserId,
    /// E-mail address to sign in with.
    pub email: String,
    /// Role of the user.
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
