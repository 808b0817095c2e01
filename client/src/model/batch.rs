//! What became of a batch.

use super::TaskWarning;
use crate::error::ApiError;
use domain::id::TaskId;
use domain::task::State;
use serde::Deserialize;

/// What became of a batch.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchResult {
    /// Tasks stored, or that existed under their `unique_key`.
    pub accepted: usize,
    /// Tasks with mistakes.
    pub rejected: usize,
    /// One for each task, in order.
    pub results: Vec<BatchItem>,
}

/// How a batch of lines ended.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchSummary {
    /// Tasks stored, or that existed under their `unique_key`.
    pub accepted: usize,
    /// Tasks with mistakes.
    pub rejected: usize,
    /// Why it ended before the lines did.
    #[serde(default)]
    pub error: Option<ApiError>,
    /// The first line without an answer, where there is an error.
    #[serde(default)]
    pub next: Option<usize>,
}

/// What became of one task of a batch: it is a task or an error.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchItem {
    /// Its place in the request, from 0.
    pub index: usize,
    /// The task, where there is one.
    #[serde(default)]
    pub task: Option<BatchTask>,
    /// What was wrong with it.
    #[serde(default)]
    pub error: Option<ApiError>,
    /// What its owner should know of a task that is new.
    #[serde(default)]
    pub warnings: Vec<TaskWarning>,
}

/// The least one needs to know of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct BatchTask {
    /// Its id.
    pub id: TaskId,
    /// Its state at the time of the answer; `None` where it existed before.
    pub state: Option<State>,
    /// The `unique_key` is held by this task, so no new one was made.
    #[serde(default)]
    pub existing: bool,
}
