//! An operator's key as operators see it: everything but its hash.

use crate::statement::RowCount;
use domain::time::Timestamp;
use serde_json::{Value, json};

/// A key that was not revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorKeyInfo {
    /// Its public part.
    pub id: String,
    /// The name.
    pub name: String,
    /// Of `read`, `admin`.
    pub scopes: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself, or has ended.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The key that takes its place.
    pub replaced_by: Option<String>,
}

impl OperatorKeyInfo {
    /// What the audit shows of it.
    pub(super) fn audit_value(&self) -> Value {
        json!({"name": self.name, "scopes": self.scopes, "expires_at": self.expires_at, "replaced_by": self.replaced_by})
    }
}

impl RowCount for OperatorKeyInfo {
    fn rows(&self) -> u64 {
        1
    }
}
