//! A user as their tenant sees them: everything but the hash of their password.

use crate::StoreError;
use crate::statement::RowCount;
use domain::access::Role;
use domain::id::UserId;
use domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

/// Whether a user can sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserState {
    /// Has set no password yet.
    Invited,
    /// Can.
    Active,
}

impl UserState {
    /// Its name in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invited => "invited",
            Self::Active => "active",
        }
    }
}

/// A user who was not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserInfo {
    /// The user's id.
    pub id: UserId,
    /// Counts the changes of what is here, from 1.
    pub version: i64,
    /// Lower case; unique in the tenant.
    pub email: String,
    /// What the user may do.
    pub role: Role,
    /// Whether the user can sign in.
    pub state: UserState,
    /// When the user was invited or created.
    pub created_at: Timestamp,
}

impl UserInfo {
    /// What the audit shows of one.
    pub(crate) fn audit_value(&self) -> Value {
        json!({"email": self.email, "role": self.role, "state": self.state.as_str()})
    }
}

/// A row of `app_user`.
pub(super) struct UserRow {
    pub id: Uuid,
    pub version: i64,
    pub email: String,
    pub role: String,
    pub state: String,
    pub created_at: Timestamp,
}

impl RowCount for UserRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl TryFrom<UserRow> for UserInfo {
    type Error = StoreError;

    fn try_from(row: UserRow) -> Result<Self, StoreError> {
        let malformed = |what: &'static str, value: &str| StoreError::Malformed {
            what,
            row: UserId(row.id).to_string(),
            value: value.to_owned(),
        };
        Ok(Self {
            id: UserId(row.id),
            version: row.version,
            role: row.role.parse().map_err(|_| malformed("role", &row.role))?,
            state: match row.state.as_str() {
                "invited" => UserState::Invited,
                "active" => UserState::Active,
                other => return Err(malformed("state", other)),
            },
            email: row.email,
            created_at: row.created_at,
        })
    }
}
