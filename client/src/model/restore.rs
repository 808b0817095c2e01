//! Schedules that are held after a restore.

use domain::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// Whether schedules are held, and what happens when they fire again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Restore {
    /// Why no schedule fires; `None`: they fire.
    pub held_because: Option<String>,
    /// Schedules with overdue times.
    pub overdue: u64,
    /// The longest overdue of them.
    pub schedules: Vec<OverdueSchedule>,
    /// Unfinished tasks by state. They are not held. `None`: too many to be counted in time.
    pub tasks: Option<Vec<UnfinishedTasks>>,
}

/// A schedule with overdue times.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OverdueSchedule {
    /// Name of its tenant.
    pub tenant: String,
    /// Its name.
    pub name: String,
    /// Its first overdue time.
    pub due_at: Timestamp,
    /// What it does about missed due times.
    pub misfire: Value,
}

/// Unfinished tasks in one state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UnfinishedTasks {
    /// Their state.
    pub state: String,
    /// Whether they are delivered at most once.
    pub at_most_once: bool,
    /// Their number.
    pub count: u64,
}
