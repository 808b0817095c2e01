//! Leases: the right to run one attempt. A lease is (task, attempt) under an executor's session.

mod live;
mod overdue;
mod stops;

pub use live::{LiveLease, live};
pub use overdue::overdue;
pub use stops::stops;

use domain::id::{SessionId, TaskId, TenantId};

/// Names one lease. The attempt is the fence: it strictly increases for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseKey {
    /// Whose task.
    pub tenant: TenantId,
    /// Which task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: u32,
    /// Under which executor session.
    pub session: SessionId,
}
