//! The id of a key.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Id of an API key or an operator key: its third part, 12 of `a-z2-7`. Not secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(String);

impl KeyId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<String> for KeyId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl From<&str> for KeyId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}
