//! One try of a task.

use domain::time::Timestamp;
use serde::Deserialize;

/// One try of a task.
#[derive(Debug, Clone, Deserialize)]
pub struct Attempt {
    /// 1 upwards.
    pub attempt: u32,
    /// `running`, or how it ended (`domain::task::AttemptOutcome`).
    pub state: String,
    /// False where it was lost to infrastructure: it costs nothing and is not counted.
    pub charged: bool,
    /// Where it ran.
    pub executor: Option<String>,
    /// When it got its place on an executor.
    pub placed_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Billed time in ms.
    pub usage_ms: i64,
    /// Its exit code, where it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it ended as it did.
    pub reason: Option<String>,
    /// Bytes written to standard output, stored or not.
    pub stdout_bytes: i64,
    /// Bytes written to standard error, stored or not.
    pub stderr_bytes: i64,
    /// Some of its output was not stored: the quota of the plan was used up.
    #[serde(default)]
    pub output_over_quota: bool,
}
