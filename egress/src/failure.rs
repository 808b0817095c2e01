//! Why there was no whole answer.
//!
//! The texts are for people and name no setting: who makes the exchange knows which one is meant.

use super::redirect::MAX_REDIRECTS;
use domain::target::{RefusedTarget, UrlProblem};
use domain::time::format_duration;
use std::io;
use std::time::Duration;

/// Why there was no whole answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No address of the host may be connected to.
    #[error("{host} was refused: {refused}")]
    Refused {
        /// As the URL names it.
        host: String,
        /// Why its last address is refused.
        refused: RefusedTarget,
    },
    /// A redirect leads to what no customer may name.
    #[error("the answer {status} leads to a place that is refused: it {problem}")]
    Redirect {
        /// Of the redirect.
        status: u16,
        /// What is wrong with its URL.
        problem: UrlProblem,
    },
    /// Redirects go on. With the last one's status.
    #[error("more than {MAX_REDIRECTS} redirects; the last answer was {0}")]
    TooManyRedirects(u16),
    /// The host has no address. Of the kind `TimedOut` when no name server has answered in time.
    #[error("the name {host} cannot be resolved: {error}")]
    Name {
        /// As the URL names it.
        host: String,
        /// Why.
        error: io::Error,
    },
    /// Neither TCP nor, for `https`, TLS came about.
    #[error("no connection to {host}: {error}")]
    Connect {
        /// As the URL names it.
        host: String,
        /// Why the last address that was tried gave none.
        error: io::Error,
    },
    /// The connection ended, or what came over it is no HTTP.
    #[error("no answer from {host}: {error}")]
    Answer {
        /// As the URL names it.
        host: String,
        /// For people.
        error: String,
    },
    /// The answer began and did not end.
    #[error("the answer {status} broke off after {bytes} bytes of its body: {error}")]
    Body {
        /// Of the answer.
        status: u16,
        /// That had come.
        bytes: u64,
        /// For people.
        error: String,
    },
    /// [`Rules::timeout`](crate::Rules::timeout) was over.
    #[error("no whole answer within its timeout of {}", format_duration(*.0))]
    Timeout(Duration),
    /// [`Rules::may_go_on`](crate::Rules::may_go_on) said no.
    #[error("it may not go on")]
    Withdrawn,
}

impl Failure {
    /// Of the last answer, where there was one.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Redirect { status, .. }
            | Self::TooManyRedirects(status)
            | Self::Body { status, .. } => Some(*status),
            Self::Refused { .. }
            | Self::Name { .. }
            | Self::Connect { .. }
            | Self::Answer { .. }
            | Self::Timeout(_)
            | Self::Withdrawn => None,
        }
    }
}
