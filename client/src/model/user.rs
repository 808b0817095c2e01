//! Users.

use domain::access::Role;
use domain::id::UserId;
use domain::time::Timestamp;
use serde::Deserialize;

/// A user of your tenant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct User {
    /// The user's id.
    pub id: UserId,
    /// Version, from 1: counts changes.
    pub version: i64,
    /// In lower case.
    pub email: String,
    /// Role of the user.
    pub role: Role,
    /// `invited` until a password is set, then `active`.
    pub state: String,
    /// When the user was invited or created.
    pub created_at: Timestamp,
}

/// A user who was just invited. The token does not show in `Debug`.
#[derive(Clone, Deserialize)]
pub struct NewUser {
    /// Invitation token. `None` in a repeated response, and of a user who was there.
    pub invite_token: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub info: User,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser").field("info", &self.info).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitations_token_does_not_show() {
        let json = format!(
            r#"{{"invite_token":"hunter2","id":"{}","version":1,"email":"ann@example.com","role":"viewer","state":"invited",
            "created_at":"2030-01-31T12:00:00Z"}}"#,
            UserId::fresh()
        );
        let made: NewUser = serde_json::from_str(&json).unwrap();
        assert_eq!(made.invite_token.as_deref(), Some("hunter2"));
        assert!(!format!("{made:?}").contains("hunter2"));
    }
}
