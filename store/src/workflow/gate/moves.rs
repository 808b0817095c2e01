//! What is to be done with the tasks whose gates are opened together.

use super::read::Key;
use super::wait::Waiting;
use crate::task::transition::{PreparedTask, WaitOver};
use domain::id::{TaskId, TenantId};

/// What is to be done with the tasks of one call.
#[derive(Debug, Default)]
pub(super) struct Moves {
    pub prepared: Vec<PreparedTask>,
    pub skipped: Vec<(TenantId, TaskId, String)>,
    pub failed: Vec<(TenantId, TaskId, String)>,
    /// Whose gate was closed.
    pub over: Vec<WaitOver>,
    /// Whose items have ended.
    pub gathered: Vec<WaitOver>,
    pub waiting: Vec<Waiting>,
    /// For which a spend cap has no room.
    pub unpaid: Vec<Key>,
    /// Items that were stored.
    pub items: u64,
}

/// The end of a wait.
pub(super) fn over((tenant, task): Key, result: Option<String>, reason: &str) -> WaitOver {
    WaitOver { tenant, task, result, reason: reason.to_owned() }
}
