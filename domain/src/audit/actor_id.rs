//! Who did something, and with which credential. Texts in JSON; what this version cannot read is kept as it came.

use super::by::Actor;
use crate::id::{PublicKeyId, SignInId, UserId};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ActorId {
    /// A user.
    User(UserId),
    /// An API key or an operator key.
    Key(PublicKeyId),
    /// Another one, such as `system` or `operator:ann`, an operator with a command on the database.
    Other(String),
}

/// The credential with which something was done.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum CredentialId {
    /// A sign-in of a user.
    SignIn(SignInId),
    /// An API key or an operator key.
    Key(PublicKeyId),
    /// Another one.
    Other(String),
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => id.fmt(f),
            Self::Key(id) => id.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignIn(id) => id.fmt(f),
            Self::Key(id) => id.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl From<String> for ActorId {
    fn from(text: String) -> Self {
        if let Ok(user) = text.parse() {
            return Self::User(user);
        }
        text.parse().map_or(Self::Other(text), Self::Key)
    }
}

impl From<String> for CredentialId {
    fn from(text: String) -> Self {
        if let Ok(sign_in) = text.parse() {
            return Self::SignIn(sign_in);
        }
        text.parse().map_or(Self::Other(text), Self::Key)
    }
}

impl From<Actor> for ActorId {
    fn from(actor: Actor) -> Self {
        actor.to_string().into()
    }
}

impl From<ActorId> for String {
    fn from(id: ActorId) -> Self {
        id.to_string()
    }
}

impl From<CredentialId> for String {
    fn from(id: CredentialId) -> Self {
        id.to_string()
    }
}

impl FromStr for ActorId {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.to_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_by_its_form_and_shown_as_it_came() {
        let (user, sign_in) = (UserId::fresh(), SignInId::fresh());
        let key: PublicKeyId = "q2mnv5c7xk3a".parse().unwrap();
        for (text, wanted) in [
            (user.to_string(), ActorId::User(user)),
            (key.to_string(), ActorId::Key(key)),
            ("system".to_owned(), ActorId::Other("system".to_owned())),
            ("operator:ann".to_owned(), ActorId::Other("operator:ann".to_owned())),
        ] {
            let read: ActorId = serde_json::from_value(text.clone().into()).unwrap();
            assert_eq!(read, wanted);
            assert_eq!(serde_json::to_value(read).unwrap(), text);
        }
        for (text, wanted) in [
            (sign_in.to_string(), CredentialId::SignIn(sign_in)),
            (key.to_string(), CredentialId::Key(key)),
            ("badge 7".to_owned(), CredentialId::Other("badge 7".to_owned())),
        ] {
            let read: CredentialId = serde_json::from_value(text.clone().into()).unwrap();
            assert_eq!(read, wanted);
            assert_eq!(serde_json::to_value(read).unwrap(), text);
        }
    }
}
