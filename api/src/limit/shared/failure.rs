//! Why Redis did not answer, and what an operator can do about it.

use redis::{ErrorKind, RedisError, ServerErrorKind};
use runtime::error_chain::ErrorChain;
use runtime::tls::advice;

/// A call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It returned an error, or the connection did.
    #[error("Redis failed")]
    Refused(#[source] RedisError),
    /// Not in time.
    #[error("Redis did not answer in time")]
    Late,
    /// Redis is well and did nothing, as buckets do not count yet.
    #[error("buckets do not count yet")]
    NotYet,
}

/// The kinds of causes, as the metric names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It refused user and password, or requires them.
    Password,
    /// Its user lacks rights.
    Permission,
    /// It is a replica.
    ReadOnly,
    /// Its cluster does not serve our slot.
    Cluster,
    /// No connection, or none that is trusted.
    Connection,
    /// It answers too late.
    Late,
    /// Another error.
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
        self.name_and_advice().0
    }

    const fn name_and_advice(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Password => {
                ("password", Some("give the user and password that it takes in `redis.url`"))
            }
            Self::Permission => {
                ("permission", Some("grant its user the commands and keys of docs/limits.md"))
            }
            Self::ReadOnly => {
                ("read_only", Some("it is a replica: name its primary in `redis.url`"))
            }
            Self::Cluster => ("cluster", Some("its cluster must be whole: see CLUSTER INFO")),
            Self::Connection => ("connection", None),
            Self::Late => {
                ("late", Some("where it is far away or busy raise `redis.command_timeout`"))
            }
            Self::Other => ("other", None),
        }
    }
}

/// A script without rights has no error code of its own. The texts are of Redis 7.0 and of later versions.
fn is_forbidden_in_script(error: &RedisError) -> bool {
    let text = error.to_string();
    ["executing the script can't run", "ACL failure in script"]
        .iter()
        .any(|part| text.contains(part))
}

impl Failure {
    pub(crate) fn cause(&self) -> Cause {
        let error = match self {
            Self::Refused(error) => error,
            Self::Late => return Cause::Late,
            Self::NotYet => return Cause::Other,
        };
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

    /// The chain of errors, and what to do.
    pub(crate) fn explained(&self) -> String {
        let chain = ErrorChain(self).to_string();
        let secure = advice(&chain, "redis");
        match secure.as_deref().or(self.cause().name_and_advice().1) {
            Some(advice) => format!("{chain}; {advice}"),
            None => chain,
        }
    }
}
