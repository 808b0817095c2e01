//! Names one dispatch of a task.

use crate::epoch::Epoch;
use crate::id::{TaskId, TenantId};
use serde::{Deserialize, Serialize};

/// One dispatch of a task. In the order in which rows are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Dispatch {
    /// The tenant that owns the task.
    pub tenant: TenantId,
    /// The task.
    pub task: TaskId,
    /// Which of its dispatches; a claim or a return that names another one is stale.
    pub epoch: Epoch,
}
