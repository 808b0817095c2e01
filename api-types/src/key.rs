//! API keys.

use crate::{DateTime, Extensible, KeyId, Secret};
use domain::access::Scope;
use domain::id::UserId;
use serde::{Deserialize, Serialize};

/// An API key, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiKey {
    /// Id: the third part of the key.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: KeyId,
    /// What it is called.
    pub name: String,
    /// Scopes; none includes another.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::words::Scope>))]
    pub scopes: Vec<Extensible<Scope>>,
    /// The user who created it, directly or through a key; null if none. It is revoked with the user.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub user: Option<UserId>,
    /// When it was created.
    pub created_at: DateTime,
    /// Expiry; null: never.
    pub expires_at: Option<DateTime>,
    /// Last use, to within a minute; null: never.
    pub last_used_at: Option<DateTime>,
    /// The key that replaced it; both are valid until `expires_at`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub replaced_by: Option<KeyId>,
}

/// A new key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewApiKey {
    /// The whole key, shown once. Null in a repeated response: the key exists, but its text is only in the first response.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub key: Option<Secret>,
    /// The rest.
    #[serde(flatten)]
    pub info: ApiKey,
}

/// Both keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
        assert_eq!(made.key.as_ref().map(Secret::expose), Some("hunter2"));
        assert!(!format!("{made:?}").contains("hunter2"));
    }
}
