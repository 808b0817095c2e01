//! Names one lease: the right to run one attempt.

use crate::id::{SessionId, TaskId, TenantId};

/// Names one lease. The attempt is the fence: it strictly increases for a task. In the order in which rows are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseKey {
    /// The tenant that owns the task.
    pub tenant: TenantId,
    /// The task.
    pub task: TaskId,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// The executor session under which it was granted.
    pub session: SessionId,
}
