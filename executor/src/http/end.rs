//! How an attempt ended, and why there was no whole answer.

use super::redirect::MAX_REDIRECTS;
use domain::target::{RefusedTarget, UrlProblem};
use domain::time::format_duration;
use std::io;
use std::time::Duration;

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HttpEnd {
    /// There was an answer, and this is what the task's rule makes of it.
    Answered { status: u16, succeeded: bool, retry_after: Option<Duration> },
    /// There was no whole answer: why, for people.
    Failed { reason: String, status: Option<u16> },
    /// It passed its cap and was cut off.
    OverCap,
    /// Its cap was over while it waited for its turn to look a name up; `asked` when an answer had led it there.
    NoTurn { asked: bool },
    /// It was cut off because the agent asked, or the lease was over.
    Cut,
}

/// Why there was no whole answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{host} was refused: {refused}")]
    Refused { host: String, refused: RefusedTarget },
    #[error("the answer {status} leads to a place that is refused: it {problem}")]
    Redirect { status: u16, problem: UrlProblem },
    #[error("more than {MAX_REDIRECTS} redirects; the last answer was {0}")]
    TooManyRedirects(u16),
    #[error("the name {host} cannot be resolved: {error}")]
    Name { host: String, error: io::Error },
    #[error("no connection to {host}: {error}")]
    Connect { host: String, error: io::Error },
    #[error("no answer from {host}: {error}")]
    Answer { host: String, error: String },
    #[error("the answer {status} broke off after {bytes} bytes of its body: {error}")]
    Body { status: u16, bytes: u64, error: String },
    #[error(
        "no whole answer within its timeout of {}; raise `run.http.timeout`",
        format_duration(*.0)
    )]
    Timeout(Duration),
    /// Not reported: the end of the lease has its own reason.
    #[error("the lease is over")]
    LeaseOver,
}

impl Failure {
    /// Of the last answer, where there was one.
    pub(super) const fn status(&self) -> Option<u16> {
        match self {
            Self::Redirect { status, .. }
            | Self::TooManyRedirects(status)
            | Self::Body { status, .. } => Some(*status),
            Self::Refused { .. }
            | Self::Name { .. }
            | Self::Connect { .. }
            | Self::Answer { .. }
            | Self::Timeout(_)
            | Self::LeaseOver => None,
        }
    }
}
