//! API keys.

use domain::access::Scope;
use domain::id::UserId;
use domain::time::Timestamp;
use serde::Deserialize;

/// An API key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ApiKey {
    /// The public part: the third part of the key's text.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The user who made it, or made the key that did, where there is one.
    pub user: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself, or has ended.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The key that was made in its place.
    pub replaced_by: Option<String>,
}

/// A key that was just made. Its text does not show in `Debug`.
#[derive(Clone, Deserialize)]
pub struct NewApiKey {
    /// The whole key. `None` where the request had been repeated and the answer to the first try was lost.
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

/// A key and the one in whose place it was made.
#[derive(Debug, Clone, Deserialize)]
pub struct RotatedApiKey {
    /// The key from now on.
    pub new: NewApiKey,
    /// The key until it expires.
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
