//! Users of a tenant.

use crate::{DateTime, Extensible, Secret};
use domain::access::Role;
use domain::id::UserId;
use serde::{Deserialize, Serialize};

/// A user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct User {
    /// The user's id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: UserId,
    /// Version, from 1; counts changes of the fields below.
    pub version: i64,
    /// Lower case; unique in the tenant.
    pub email: String,
    /// Role of the user.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Role))]
    pub role: Extensible<Role>,
    /// `invited` until a password is set, then `active`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub state: Extensible<UserState>,
    /// When the user was invited or created.
    pub created_at: DateTime,
}

/// Whether a user can sign in.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum UserState {
    /// Has set no password yet.
    Invited,
    /// Can sign in.
    Active,
}

impl UserState {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A new user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewUser {
    /// The user.
    #[serde(flatten)]
    pub info: User,
    /// Invitation token, shown once. Null if a password was given, and in a repeated response.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub invite_token: Option<Secret>,
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
        assert_eq!(made.invite_token.as_ref().map(Secret::expose), Some("hunter2"));
        assert!(!format!("{made:?}").contains("hunter2"));
    }
}
