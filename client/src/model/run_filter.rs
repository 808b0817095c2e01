//! Filters of workflow runs.

use super::filter::WhichSchedule;
use domain::workflow::RunState;

/// Which runs: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// States; empty: any.
    pub states: Vec<RunState>,
    /// Name of the workflow.
    pub workflow: Option<String>,
    /// Schedule that started the run.
    pub schedule: Option<WhichSchedule>,
}

impl RunFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 3] {
        let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let states = (!states.is_empty()).then(|| states.join(","));
        let schedule = self.schedule.as_ref().map(ToString::to_string);
        [("state", states), ("workflow", self.workflow.clone()), ("schedule", schedule)]
    }
}
