//! Being signed in.

use domain::id::{TenantId, UserId};
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

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("tenant", &self.tenant)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
