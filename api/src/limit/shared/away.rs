//! Why Redis did not answer, and what a person can do about it.

use redis::{ErrorKind, RedisError, ServerErrorKind};
use runtime::error_chain::ErrorChain;
use runtime::tls::advice;

/// Redis gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Away {
    /// It said so, or the connection did.
    #[error("Redis failed")]
    Failed(#[source] RedisError),
    /// Not in time.
    #[error("Redis did not answer in time")]
    Late,
}

/// The kinds of causes, as the metric names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It refused user and password, or wants some.
    Password,
    /// Its user may not do what we do.
    Permission,
    /// It is a replica.
    ReadOnly,
    /// It is a node of a cluster that has not all its slots, or not ours.
    Cluster,
    /// Nobody answers there, or not in a way that is trusted.
    Connection,
    /// It answers too late.
    Late,
    /// Anything else that it said.
    Other,
}

impl Cause {
    pub(crate) const ALL: [Self; 7] = [
        Self::Password,
        Self::Permission,
        Self::ReadOnly,
        Self::Cluster,
        Self::Connection,
        Self::Late,
        Self::Other,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Permission => "permission",
            Self::ReadOnly => "read_only",
            Self::Cluster => "cluster",
            Self::Connection => "connection",
            Self::Late => "late",
            Self::Other => "other",
        }
    }

    const fn advice(self) -> Option<&'static str> {
        match self {
            Self::Password => Some("give the user and password that it takes in `redis.url`"),
            Self::Permission => Some("grant its user the commands and keys of docs/limits.md"),
            Self::ReadOnly => Some("it is a replica: name its primary in `redis.url`"),
            Self::Cluster => Some("its cluster must be whole: see CLUSTER INFO"),
            Self::Late => Some("where it is far away or busy raise `redis.command_timeout`"),
            Self::Connection | Self::Other => None,
        }
    }
}

/// What a script may not do has no code of its own. By Redis 7.0, and by later ones.
fn is_forbidden_in_script(error: &RedisError) -> bool {
    let text = error.to_string();
    ["executing the script can't run", "ACL failure in script"]
        .iter()
        .any(|says| text.contains(says))
}

impl Away {
    pub(crate) fn cause(&self) -> Cause {
        let Self::Failed(error) = self else { return Cause::Late };
        match error.kind() {
            ErrorKind::AuthenticationFailed => Cause::Password,
            ErrorKind::Io => Cause::Connection,
            ErrorKind::Server(kind) => match kind {
                ServerErrorKind::NoPerm => Cause::Permission,
                ServerErrorKind::ReadOnly => Cause::ReadOnly,
                ServerErrorKind::Moved
                | ServerErrorKind::Ask
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::CrossSlot
                | ServerErrorKind::MasterDown => Cause::Cluster,
                _ if is_forbidden_in_script(error) => Cause::Permission,
                _ => Cause::Other,
            },
            _ if matches!(error.code(), Some("NOAUTH" | "WRONGPASS")) => Cause::Password,
            _ => Cause::Other,
        }
    }

    /// The causes, and what to do.
    pub(crate) fn explained(&self) -> String {
        let chain = ErrorChain(self).to_string();
        let secure = advice(&chain, "redis");
        match secure.as_deref().or(self.cause().advice()) {
            Some(advice) => format!("{chain}; {advice}"),
            None => chain,
        }
    }
}
