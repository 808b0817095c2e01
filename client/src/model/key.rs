//! API keys.

use domain::access::Scope;
use domain::id::UserId;
use domain::time::Timestamp;
use serde::Deserialize;

/// An API key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ApiKey {
    /// Id: the third part of the key.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<Scope>,
    /// The user who created it, directly or through a key, if any.
    pub user: Option<UserId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Expiry.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The key that replaced it.
    pub replaced_by: Option<String>,
}

/// A new key. `Debug` hides its text.
#[derive(Clone, Deserialize)]
pub struct NewApiKey {
    /// The whole key. `None` in a repeated response.
    pub key: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub info: ApiKey,
}

impl std::fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey").field("info", &self.info).finish_non_exhaustive()
    }
}

/// The new key and the replaced one.
#[derive(Debug, Clone, Deserialize)]
pub struct RotatedApiKey {
    /// The new key.
    pub new: NewApiKey,
    /// The old key.
    pub old: ApiKey,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_keys_text_does_not_show() {
        let json = r#"{"key":"hunter2","id":"aaaaaaaaaaaa","name":"ci","scopes":["read"],"user":null,
            "created_at":"2030-01-31T12:00:00Z","expires_at":null,"last_used_at":null,"replaced_by":null}"#;
        let made: NewApiKey = serde_json::from_str(json).unwrap();
        assert_eq!(made.key.as_deref(), Some("hunter2"));
        assert!(!format!("{made:?}").contains("hunter2"));
    }
}
