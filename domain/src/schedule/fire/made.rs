//! What a due time made.

use crate::id::{TaskId, WorkflowRunId};
use uuid::Uuid;

/// What a due time made: a task, or a workflow run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Made {
    /// A task.
    Task(TaskId),
    /// A workflow run.
    Run(WorkflowRunId),
}

impl Made {
    /// The plain UUID, as it is stored.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        match self {
            Self::Task(id) => id.uuid(),
            Self::Run(id) => id.uuid(),
        }
    }

    /// The task.
    #[must_use]
    pub const fn task(self) -> Option<TaskId> {
        match self {
            Self::Task(id) => Some(id),
            Self::Run(_) => None,
        }
    }

    /// The run.
    #[must_use]
    pub const fn run(self) -> Option<WorkflowRunId> {
        match self {
            Self::Task(_) => None,
            Self::Run(id) => Some(id),
        }
    }
}
