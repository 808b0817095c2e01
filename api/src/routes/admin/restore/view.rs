//! What an operator should know before schedules fire again.

use crate::call::OperatorCall;
use crate::problem::Problem;
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use store::installation::{self, AliveTasks, OverdueSchedule};
use utoipa::ToSchema;

/// Schedules that are shown by name.
const SHOWN: i32 = 50;
/// Each of the two counts takes no longer: they hold one of the few connections of operators.
const COUNTED_WITHIN: Duration = Duration::from_secs(10);

/// Whether schedules are held after a restore, and what happens when they fire again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Restore)]
pub struct RestoreView {
    /// Why no schedule fires; null: they fire.
    held_because: Option<String>,
    /// Schedules with overdue times.
    overdue: u64,
    /// The longest overdue of them, 50 at most.
    schedules: Vec<OverdueScheduleView>,
    /// Unfinished tasks. They continue and are not held. Null: too many to be counted within ten seconds.
    tasks: Option<Vec<UnfinishedTasksView>>,
}

/// A schedule with overdue times.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OverdueSchedule)]
pub struct OverdueScheduleView {
    /// Name of its tenant.
    tenant: String,
    /// Its name.
    name: String,
    /// Its first overdue time.
    #[schema(value_type = String, format = DateTime)]
    due_at: Timestamp,
    /// What it does about missed due times, as in the schedule.
    #[schema(value_type = Value)]
    misfire: Value,
}

/// Unfinished tasks in one state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UnfinishedTasks)]
pub struct UnfinishedTasksView {
    /// Their state.
    #[schema(value_type = super::super::super::super::openapi::words::State)]
    state: String,
    /// Whether they are delivered at most once.
    at_most_once: bool,
    /// Their number.
    count: u64,
}

impl From<OverdueSchedule> for OverdueScheduleView {
    fn from(one: OverdueSchedule) -> Self {
        let misfire = serde_json::from_str(&one.misfire).unwrap_or_else(|_| one.misfire.into());
        Self { tenant: one.tenant, name: one.name, due_at: one.due_at, misfire }
    }
}

impl From<AliveTasks> for UnfinishedTasksView {
    fn from(of: AliveTasks) -> Self {
        Self { state: of.state, at_most_once: of.at_most_once, count: of.tasks }
    }
}

/// How it is now.
pub(super) async fn read(call: &OperatorCall) -> Result<RestoreView, Problem> {
    let db = &call.state.admin;
    let held_because = installation::held_for_operator(db).await?;
    let overdue = installation::overdue(db, SHOWN, COUNTED_WITHIN).await?;
    let tasks = installation::alive(db, COUNTED_WITHIN).await?;
    Ok(RestoreView {
        held_because,
        overdue: overdue.total,
        schedules: overdue.first.into_iter().map(Into::into).collect(),
        tasks: tasks.map(|all| all.into_iter().map(Into::into).collect()),
    })
}
