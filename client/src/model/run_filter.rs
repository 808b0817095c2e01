//! Filters of workflow runs.

use super::filter::WhichSchedule;
use chrono::SecondsFormat;
use domain::time::Timestamp;
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
    /// Started at or after this.
    pub created_from: Option<Timestamp>,
    /// Started before this.
    pub created_before: Option<Timestamp>,
}

impl RunFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 5] {
        let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let states = (!states.is_empty()).then(|| states.join(","));
        let schedule = self.schedule.as_ref().map(ToString::to_string);
        let time =
            |at: Option<Timestamp>| at.map(|at| at.to_rfc3339_opts(SecondsFormat::AutoSi, true));
        [
            ("state", states),
            ("workflow", self.workflow.clone()),
            ("schedule", schedule),
            ("created_from", time(self.created_from)),
            ("created_before", time(self.created_before)),
        ]
    }
}
