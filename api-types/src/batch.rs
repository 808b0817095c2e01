//! `POST /v1/tasks/batch`: the results of many tasks.

use crate::{Extensible, Problem, Task, TaskWarning};
use domain::id::TaskId;
use domain::task::State;
use serde::{Deserialize, Serialize};

/// Result of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchResult {
    /// Tasks stored or existing under their `unique_key`.
    pub accepted: usize,
    /// Invalid tasks and tasks over a rate limit (`rate_limited`).
    pub rejected: usize,
    /// One for each task, in order.
    pub results: Vec<BatchItem>,
}

/// Result of one task of a batch: `task` or `error`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchItem {
    /// Index in the request, from 0.
    pub index: usize,
    /// The task, if it was stored or existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::BatchTask>, nullable = false))]
    pub task: Option<BatchTask>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Problem>, nullable = false))]
    pub error: Option<Box<Problem>>,
    /// Warnings about a new task. Absent if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub warnings: Vec<TaskWarning>,
}

/// A task of a batch: whole with `return=full`, else its id and state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchTask {
    /// The whole task.
    Full(Box<Task>),
    /// Its id and state.
    Brief(TaskState),
}

impl BatchTask {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> TaskId {
        match self {
            Self::Full(task) => task.id,
            Self::Brief(task) => task.id,
        }
    }

    /// Its state at the time of the response; `None` if it existed before.
    #[must_use]
    pub fn state(&self) -> Option<&Extensible<State>> {
        match self {
            Self::Full(task) => Some(&task.state),
            Self::Brief(task) => task.state.as_ref(),
        }
    }

    /// Whether it existed before under its `unique_key`.
    #[must_use]
    pub fn is_existing(&self) -> bool {
        matches!(self, Self::Brief(TaskState { existing: true, .. }))
    }
}

/// Id and state of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskState {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: TaskId,
    /// State at the time of the response; null if the task existed before (see `existing`).
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::State>))]
    pub state: Option<Extensible<State>>,
    /// This task has the `unique_key`, so no new one was created.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub existing: bool,
}

/// The last line of the response to an NDJSON batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BatchSummary {
    /// Tasks stored or existing under their `unique_key`.
    pub accepted: usize,
    /// Invalid tasks and tasks over a rate limit (`rate_limited`).
    pub rejected: usize,
    /// Why processing stopped before the end. Lines from `next` on have no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Problem>, nullable = false))]
    pub error: Option<Box<Problem>>,
    /// The first line without a result, if there is an `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub next: Option<usize>,
}
