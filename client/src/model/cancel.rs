//! What a cancel did.

use super::Task;
use serde::Deserialize;

/// A task after it was asked to be cancelled.
#[derive(Debug, Clone, Deserialize)]
pub struct Cancelled {
    /// The task as it is now.
    #[serde(flatten)]
    pub task: Task,
    /// What was done.
    pub cancel: CancelDone,
}

/// What a cancel did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelDone {
    /// It had not started, and will not.
    Cancelled,
    /// It runs, and is asked to stop.
    Requested,
    /// It had been asked before.
    AlreadyRequested,
    /// It had ended before.
    AlreadyEnded,
}
