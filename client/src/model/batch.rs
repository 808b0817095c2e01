//! Results of a batch.

use super::TaskWarning;
use crate::error::ApiError;
use domain::id::TaskId;
use domain::task::State;
use serde::Deserialize;

/// Result of a batch.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchResult {
    /// Tasks stored or existing under their `unique_key`.
    pub accepted: usize,
    /// Invalid tasks.
    pub rejected: usize,
    /// One for each task, in order.
    pub results: Vec<BatchItem>,
}

/// Summary of an NDJSON batch.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchSummary {
    /// Tasks stored or existing under their `unique_key`.
    pub accepted: usize,
    /// Invalid tasks.
    pub rejected: usize,
    /// Why processing stopped early.
    #[serde(default)]
    pub error: Option<ApiError>,
    /// The first line without a result, if there is an error.
    #[serde(default)]
    pub next: Option<usize>,
}

/// Result of one task of a batch: a task or an error.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchItem {
    /// Index in the request, from 0.
    pub index: usize,
    /// The task, if any.
    #[serde(default)]
    pub task: Option<BatchTask>,
    /// The error, if any.
    #[serde(default)]
    pub error: Option<ApiError>,
    /// Warnings about a new task.
    #[serde(default)]
    pub warnings: Vec<TaskWarning>,
}

/// Id and state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct BatchTask {
    /// Its id.
    pub id: TaskId,
    /// State at the time of the response; `None` if it existed before.
    pub state: Option<State>,
    /// This task has the `unique_key`, so no new one was created.
    #[serde(default)]
    pub existing: bool,
}
