//! What is told of one attempt when its lease ends.
use domain::task::{AttemptOutcome, LeaseKey, ResultValue};

/// How one attempt ended, as its executor (or the lack of one) tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAttempt {
    /// Which lease.
    pub lease: LeaseKey,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How long it ran by the executor's clock, in ms. Never billed beyond the time the lease lasted.
    pub ran_ms: u64,
    /// Where it exited by itself.
    pub exit_code: Option<i32>,
    /// Where a signal ended it.
    pub signal: Option<i32>,
    /// A sentence for people.
    pub reason: Option<String>,
    /// Bytes written to standard output.
    pub stdout_bytes: u64,
    /// Bytes written to standard error.
    pub stderr_bytes: u64,
    /// What the task returned, where it did; stored when this attempt completes it.
    pub value: Option<ResultValue>,
}

impl EndedAttempt {
    /// An attempt of which nothing is known but how it ended.
    #[must_use]
    pub fn bare(lease: LeaseKey, outcome: AttemptOutcome, reason: &str) -> Self {
        Self {
            lease,
            outcome,
            ran_ms: 0,
            exit_code: None,
            signal: None,
            reason: Some(reason.to_owned()),
            stdout_bytes: 0,
            stderr_bytes: 0,
            value: None,
        }
    }
}
