//! Identifiers, one type per kind, so that they cannot be confused.
//!
//! Shown with a prefix (`task_018f…`, 32 lower-case hex digits), stored as UUIDs. They are UUIDv7: ordered by creation
//! time, which is all they reveal.

use crate::text_id;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::str::FromStr;
use uuid::Uuid;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an id of the form {prefix}_ followed by 32 hex digits")]
pub struct ParseIdError {
    prefix: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// The prefix with which this kind of id is shown.
            pub const PREFIX: &'static str = $prefix;

            /// A fresh id; its leading 48 bits are the present time in milliseconds.
            #[must_use]
            pub fn fresh() -> Self {
                Self(Uuid::now_v7())
            }

            /// The plain UUID, as it is stored.
            #[must_use]
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix(concat!($prefix, "_"))
                    .filter(|hex| hex.len() == 32 && !hex.bytes().any(|b| b.is_ascii_uppercase()))
                    .and_then(|hex| Uuid::try_parse(hex).ok())
                    .map(Self)
                    .ok_or(ParseIdError { prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.as_bytes().serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    <[u8; 16]>::deserialize(deserializer).map(|bytes| Self(Uuid::from_bytes(bytes)))
                }
            }
        }
    };
}

id!(
    /// A customer organisation.
    TenantId,
    "tenant"
);
id!(
    /// A task.
    TaskId,
    "task"
);
id!(
    /// A schedule.
    ScheduleId,
    "schedule"
);
id!(
    /// A run of a workflow.
    WorkflowRunId,
    "run"
);
id!(
    /// A running Berth process (a scheduler, a resource manager, …).
    NodeId,
    "node"
);

id!(
    /// A user of a tenant.
    UserId,
    "user"
);
id!(
    /// A sign-in of a user.
    SignInId,
    "signin"
);

id!(
    /// A row of the audit log.
    AuditId,
    "audit"
);

id!(
    /// A delivery of an event to a webhook. Receivers see it as `webhook-id`.
    DeliveryId,
    "delivery"
);

/// One boot of an executor. Its id can be used to take over the session, so it is never shown: its text is a short hash
/// that only distinguishes sessions in logs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub Uuid);

impl SessionId {
    /// A fresh id; its leading 48 bits are the present time in milliseconds.
    #[must_use]
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }

    /// Of no executor: that of attempts whose call was taken on, and that run until they are completed.
    pub const CALLED: Self = Self(Uuid::nil());

    /// The plain UUID, as it is stored and sent.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        write!(f, "session#{:08x}", hasher.finish() >> 32)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Id of a request, in its response, in logs and in the audit log: `req_` and 24 hex digits or more. Not secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId {
    /// Random part of this process.
    pub process: u64,
    /// Counted within it.
    pub number: u64,
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "req_{:016x}{:08x}", self.process, self.number)
    }
}

/// The public part of a key: 12 of `a-z2-7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKeyId(pub [u8; 12]);

/// A text is not the public part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 12 of a-z and 2-7")]
pub struct ParsePublicKeyIdError;

impl FromStr for PublicKeyId {
    type Err = ParsePublicKeyIdError;

    fn from_str(text: &str) -> Result<Self, ParsePublicKeyIdError> {
        let id = text.as_bytes().try_into().map_err(|_| ParsePublicKeyIdError)?;
        let fits = |b: &u8| matches!(b, b'a'..=b'z' | b'2'..=b'7');
        if text.as_bytes().iter().all(fits) { Ok(Self(id)) } else { Err(ParsePublicKeyIdError) }
    }
}

impl fmt::Display for PublicKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.0).unwrap_or_default())
    }
}

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to 63 of a-z, 0-9 and '-', not starting or ending with '-'")]
pub struct ParseNameError;

fn name(text: &str) -> Result<(), ParseNameError> {
    let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let fits = (1..=63).contains(&text.len())
        && text.bytes().all(letters)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if fits { Ok(()) } else { Err(ParseNameError) }
}

text_id!(
    /// An executor's configured name: 1 to 63 of `[a-z0-9-]`, not starting or ending with `-`.
    ExecutorId,
    ParseNameError,
    name
);
text_id!(
    /// A pool's name: the same form as an executor's.
    PoolName,
    ParseNameError,
    name
);
text_id!(
    /// A plan's name: the same form as an executor's.
    PlanName,
    ParseNameError,
    name
);
text_id!(
    /// A price book's name: the same form as an executor's.
    PriceBookName,
    ParseNameError,
    name
);

text_id!(
    /// A canary's name: the same form as an executor's.
    CanaryName,
    ParseNameError,
    name
);

text_id!(
    /// A spend cap's name: the same form as an executor's.
    SpendCapName,
    ParseNameError,
    name
);

text_id!(
    /// A webhook's name: the same form as an executor's.
    WebhookName,
    ParseNameError,
    name
);

impl Default for PoolName {
    fn default() -> Self {
        Self("default".into())
    }
}

impl Default for PlanName {
    fn default() -> Self {
        Self("default".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_being_shown_and_read() {
        let id = TaskId::fresh();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.to_string().starts_with("task_"));
    }

    #[test]
    fn an_id_of_another_kind_or_form_is_refused() {
        let id = TaskId::fresh();
        for text in [
            SessionId(id.0).to_string(),
            id.0.to_string(),
            format!("task_{}", id.0),
            id.to_string().to_uppercase(),
            String::new(),
        ] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_session_id_is_told_apart_and_never_shown() {
        let (id, other) = (SessionId::fresh(), SessionId::fresh());
        let (hex, shown) = (id.0.simple().to_string(), format!("{id} {id:?}"));
        // Not even a part of it as long as a guess could begin with.
        assert!((0..hex.len() - 8).all(|at| !shown.contains(&hex[at..at + 8])), "{shown} of {hex}");
        assert_eq!(id.to_string(), SessionId(id.0).to_string());
        assert_ne!(id.to_string(), other.to_string());
    }

    #[test]
    fn ids_made_later_sort_later() {
        let made: Vec<_> = (0..100).map(|_| TaskId::fresh()).collect();
        assert!(made.is_sorted());
    }

    #[test]
    fn names_are_plain() {
        for good in ["a", "default", "eu-west-1", &"x".repeat(63)] {
            assert!(good.parse::<PoolName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b", &"x".repeat(64)] {
            assert!(bad.parse::<PoolName>().is_err(), "{bad}");
        }
    }
}
