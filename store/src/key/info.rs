//! A key as its tenant sees it: everything but its hash.

use crate::StoreError;
use crate::statement::RowCount;
use domain::access::Scope;
use domain::id::UserId;
use domain::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

/// A key that was not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its public part.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// On whose behalf it was made, where a user made it or the key that made it.
    pub user: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself, or has ended.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The key that takes its place.
    pub replaced_by: Option<String>,
}

impl KeyInfo {
    /// What the audit shows of it.
    pub(crate) fn audit_value(&self) -> Value {
        json!({"name": self.name, "scopes": self.scopes, "expires_at": self.expires_at, "user": self.user,
            "replaced_by": self.replaced_by})
    }
}

/// A row of `api_key`.
pub(super) struct KeyRow {
    pub id: String,
    pub name: String,
    pub scopes: Vec<String>,
    pub user_id: Option<Uuid>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub replaced_by: Option<String>,
}

impl RowCount for KeyRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl TryFrom<KeyRow> for KeyInfo {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let scopes = row.scopes.iter().map(|scope| {
            scope.parse().map_err(|_| StoreError::Malformed {
                what: "scopes",
                row: row.id.clone(),
                value: scope.clone(),
            })
        });
        Ok(Self {
            scopes: scopes.collect::<Result<_, _>>()?,
            id: row.id,
            name: row.name,
            user: row.user_id.map(UserId),
            created_at: row.created_at,
            expires_at: row.expires_at,
            last_used_at: row.last_used_at,
            replaced_by: row.replaced_by,
        })
    }
}
