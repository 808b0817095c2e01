//! The result of a cancel.

use super::Task;
use serde::Deserialize;

/// A task and the result of its cancel.
#[derive(Debug, Clone, Deserialize)]
pub struct Cancelled {
    /// The task now.
    #[serde(flatten)]
    pub task: Task,
    /// The result.
    pub cancel: CancelDone,
}

/// Result of a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelDone {
    /// Cancelled before it started.
    Cancelled,
    /// Running; a stop was requested.
    Requested,
    /// A stop was already requested.
    AlreadyRequested,
    /// Already finished.
    AlreadyEnded,
}
