//! Filters of workflow runs.

use domain::workflow::RunState;

/// Which runs: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// States; empty: any.
    pub states: Vec<RunState>,
    /// Name of the workflow.
    pub workflow: Option<String>,
}

impl RunFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 2] {
        let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let states = (!states.is_empty()).then(|| states.join(","));
        [("state", states), ("workflow", self.workflow.clone())]
    }
}
