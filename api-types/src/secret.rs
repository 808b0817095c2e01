//! A secret on its way: a key, a token, a password. It shows in JSON and nowhere else.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A secret text. `Debug` hides it, and its memory is cleared when it is dropped.
#[derive(Debug, Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// The text.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl From<SecretString> for Secret {
    fn from(text: SecretString) -> Self {
        Self(text)
    }
}

impl From<Secret> for SecretString {
    fn from(secret: Secret) -> Self {
        secret.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expose())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_in_json_only() {
        let secret = Secret::from("hunter2");
        assert!(!format!("{secret:?}").contains("hunter2"));
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
        let read: Secret = serde_json::from_str("\"hunter2\"").unwrap();
        assert_eq!(read.expose(), "hunter2");
    }
}
