//! Operators and their keys.

use domain::access::OperatorScope;
use domain::time::Timestamp;
use serde::Deserialize;

/// The operator of a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Operator {
    /// Id of the key.
    pub id: String,
    /// Name of the operator.
    pub name: String,
    /// Scopes of the key.
    pub scopes: Vec<OperatorScope>,
    /// Expiry.
    pub expires_at: Option<Timestamp>,
}

/// An operator key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OperatorKey {
    /// Id: the third part of the key.
    pub id: String,
    /// Name of the operator.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<OperatorScope>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Expiry.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The key that replaced it.
    pub replaced_by: Option<String>,
}

/// A new operator key. `Debug` hides its text.
#[derive(Clone, Deserialize)]
pub struct NewOperatorKey {
    /// The whole key.
    pub key: String,
    /// The rest.
    #[serde(flatten)]
    pub info: OperatorKey,
}

impl std::fmt::Debug for NewOperatorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewOperatorKey").field("info", &self.info).finish_non_exhaustive()
    }
}

/// The new operator key and the replaced one.
#[derive(Debug, Clone, Deserialize)]
pub struct RotatedOperatorKey {
    /// The new key.
    pub new: NewOperatorKey,
    /// The old key.
    pub old: OperatorKey,
}
