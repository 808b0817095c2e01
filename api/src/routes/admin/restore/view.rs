//! What an operator should know before schedules fire again.

use crate::call::OperatorCall;
use crate::problem::Problem;
use api_types::{Extensible, OverdueSchedule, Restore, UnfinishedTasks};
use std::time::Duration;
use store::installation::{self, AliveTasks};

/// Schedules that are shown by name.
const SHOWN: i32 = 50;
/// Each of the two counts takes no longer: they hold one of the few connections of operators.
const COUNTED_WITHIN: Duration = Duration::from_secs(10);

fn schedule(one: installation::OverdueSchedule) -> OverdueSchedule {
    let as_text = |text: String| Extensible::Other(text.into());
    let misfire = serde_json::from_str(&one.misfire).unwrap_or_else(|_| as_text(one.misfire));
    OverdueSchedule { tenant: one.tenant, name: one.name, due_at: one.due_at, misfire }
}

fn tasks(of: AliveTasks) -> UnfinishedTasks {
    let state =
        of.state.parse().map_or_else(|_| Extensible::Other(of.state.into()), Extensible::Known);
    UnfinishedTasks { state, at_most_once: of.at_most_once, count: of.tasks }
}

/// How it is now.
pub(super) async fn read(call: &OperatorCall) -> Result<Restore, Problem> {
    let db = &call.state.admin;
    let held_because = installation::held_for_operator(db).await?;
    let overdue = installation::overdue(db, SHOWN, COUNTED_WITHIN).await?;
    let alive = installation::alive(db, COUNTED_WITHIN).await?;
    Ok(Restore {
        held_because,
        overdue: overdue.total,
        schedules: overdue.first.into_iter().map(schedule).collect(),
        tasks: alive.map(|all| all.into_iter().map(tasks).collect()),
    })
}
