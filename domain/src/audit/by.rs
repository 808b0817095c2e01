//! The actor and request of an action, for the audit log.

use super::operator_name::OperatorName;
use crate::id::{PublicKeyId, RequestId, SignInId, UserId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of an actor.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// An operator, by an operator key or with a command on the database.
    Operator,
    /// An API key.
    Key,
    /// A signed-in user.
    User,
    /// No good credential.
    Nobody,
    /// The platform itself.
    System,
}

impl ActorKind {
    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// An operator, by key.
    Operator(PublicKeyId),
    /// An operator with a command on the database, by name.
    Command(OperatorName),
    /// An API key.
    Key(PublicKeyId),
    /// A user and the sign-in; `None` while signing in.
    User(UserId, Option<SignInId>),
    /// A caller without a valid credential.
    Nobody,
    /// The platform itself: `berth up`, a schedule that pauses, the purge of a deleted tenant.
    System,
}

impl Actor {
    /// Its kind.
    #[must_use]
    pub const fn kind(self) -> ActorKind {
        match self {
            Self::Operator(_) | Self::Command(_) => ActorKind::Operator,
            Self::Key(_) => ActorKind::Key,
            Self::User(..) => ActorKind::User,
            Self::Nobody => ActorKind::Nobody,
            Self::System => ActorKind::System,
        }
    }

    /// Its id; `None` if there is only one.
    #[must_use]
    pub fn id(self) -> Option<String> {
        match self {
            Self::Operator(key) | Self::Key(key) => Some(key.to_string()),
            // Key ids contain no colon.
            Self::Command(name) => Some(format!("operator:{name}")),
            Self::User(user, _) => Some(user.to_string()),
            Self::Nobody | Self::System => None,
        }
    }

    /// The credential: id of a key or of a sign-in.
    #[must_use]
    pub fn key_id(self) -> Option<String> {
        match self {
            Self::Operator(key) | Self::Key(key) => Some(key.to_string()),
            Self::User(_, sign_in) => sign_in.map(|id| id.to_string()),
            Self::Command(_) | Self::Nobody | Self::System => None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id() {
            Some(id) => f.write_str(&id),
            None => self.kind().fmt(f),
        }
    }
}

/// An actor and its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By {
    /// Who.
    pub actor: Actor,
    /// The request; `None` if not over HTTP.
    pub request: Option<RequestId>,
}

impl By {
    /// The platform itself, in no request.
    pub const SYSTEM: Self = Self { actor: Actor::System, request: None };

    /// An operator with a command on the database.
    #[must_use]
    pub const fn command(name: OperatorName) -> Self {
        Self { actor: Actor::Command(name), request: None }
    }

    /// In a request.
    #[must_use]
    pub const fn new(actor: Actor, request: RequestId) -> Self {
        Self { actor, request: Some(request) }
    }

    /// The same request by another actor.
    #[must_use]
    pub const fn as_actor(self, actor: Actor) -> Self {
        Self { actor, request: self.request }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_with_a_command_is_named_and_is_no_key() {
        let by = By::command("ann".parse().unwrap());
        assert_eq!(
            (by.actor.kind(), by.actor.key_id(), by.request),
            (ActorKind::Operator, None, None)
        );
        assert_eq!(by.actor.id().as_deref(), Some("operator:ann"));
        assert_eq!(by.actor.to_string(), "operator:ann");
    }
}
