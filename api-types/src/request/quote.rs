//! The body of `POST /v1/quotes`.

use super::NewTask;
use serde::{Deserialize, Serialize};

/// What to price: exactly one of `task`, `batch`, `workflow`, and `schedule` or the name of one. Each is the body with which it would be
/// submitted.
// Each is checked by itself, and so is JSON where it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = QuoteAsk, example = json!({
    "task": {"run": {"noop": {}}, "tier": "regular", "execution_cap": "1h", "max_attempts": 3}})))]
pub struct QuoteAsk<J = NewTask> {
    /// A task, as for `POST /v1/tasks`.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<NewTask>))]
    pub task: Option<J>,
    /// Tasks, as for `POST /v1/tasks/batch`.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::TaskBatch>))]
    pub batch: Option<J>,
    /// A run, as for `POST /v1/workflow-runs`.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::NewWorkflowRun>))]
    pub workflow: Option<J>,
    /// A schedule, as for `PUT /v1/schedules/{name}`.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<super::NewSchedule>))]
    pub schedule: Option<J>,
    /// The name of `schedule`, for the spend caps of this name. Without `schedule`: the one of this name, as it is stored.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub schedule_name: Option<String>,
    /// For which month a schedule is priced: the present one, or one of the next 120. Default: the first whole one in which it is due, or
    /// else the one of its next due time.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "2030-03", pattern = "^[0-9]{4}-[0-9]{2}$"))]
    pub month: Option<String>,
}

fn none<T>() -> Option<T> {
    None
}

impl<J> Default for QuoteAsk<J> {
    fn default() -> Self {
        let (task, batch, workflow, schedule) = (None, None, None, None);
        Self { task, batch, workflow, schedule, schedule_name: None, month: None }
    }
}
