//! One try of a task.

use domain::time::Timestamp;
use serde::Deserialize;

/// An attempt of a task.
#[derive(Debug, Clone, Deserialize)]
pub struct Attempt {
    /// Number, from 1.
    pub attempt: u32,
    /// `running`, or how it ended (`domain::task::AttemptOutcome`).
    pub state: String,
    /// False: lost to infrastructure; free, and not counted against `max_attempts`.
    pub charged: bool,
    /// Where it ran.
    pub executor: Option<String>,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Billed time in ms.
    pub usage_ms: i64,
    /// Its exit code, where it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Reason of its end.
    pub reason: Option<String>,
    /// Bytes written to standard output, stored or not.
    pub stdout_bytes: i64,
    /// Bytes written to standard error, stored or not.
    pub stderr_bytes: i64,
    /// Some of its output was not stored: the quota of the plan was used up.
    #[serde(default)]
    pub output_over_quota: bool,
}
