//! `/v1/admin/restore`: schedules that are held after a restore.

use crate::{DateTime, Extensible};
use domain::schedule::Misfire;
use domain::task::State;
use serde::{Deserialize, Serialize};

/// Whether schedules are held after a restore, and what happens when they fire again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Restore {
    /// Why no schedule fires; null: they fire.
    pub held_because: Option<String>,
    /// Schedules with overdue times.
    pub overdue: u64,
    /// The longest overdue of them, 50 at most.
    pub schedules: Vec<OverdueSchedule>,
    /// Unfinished tasks. They continue and are not held. Null: too many to be counted within ten seconds.
    pub tasks: Option<Vec<UnfinishedTasks>>,
}

/// A schedule with overdue times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverdueSchedule {
    /// Name of its tenant.
    pub tenant: String,
    /// Its name.
    pub name: String,
    /// Its first overdue time.
    pub due_at: DateTime,
    /// What it does about missed due times, as in the schedule.
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub misfire: Extensible<Misfire>,
}

/// Unfinished tasks in one state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnfinishedTasks {
    /// Their state.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::State))]
    pub state: Extensible<State>,
    /// Whether they are delivered at most once.
    pub at_most_once: bool,
    /// Their number.
    pub count: u64,
}
