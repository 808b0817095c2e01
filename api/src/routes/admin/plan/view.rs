//! A plan as operators see it, and how one is named in a path.

use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use domain::id::PlanName;
use domain::time::Timestamp;
use serde::Serialize;
use store::plan::PlanRecord;
use utoipa::ToSchema;

/// A plan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
pub struct PlanView {
    /// Its name.
    name: String,
    /// Tasks submitted per second.
    submits_per_second: u32,
    /// Burst of submitted tasks.
    submit_burst: u32,
    /// Tasks submitted per hour; 0: no limit.
    submits_per_hour: u32,
    /// Tasks queued, running or cancelling.
    running_tasks: u32,
    /// Unfinished tasks.
    backlog: u32,
    /// Schedules that are not finished.
    schedules: u32,
    /// Largest body of one task, bytes.
    payload_bytes: u32,
    /// Stored output, bytes.
    stored_output_bytes: u64,
    /// Days for which finished tasks are shown.
    retention_days: u16,
    /// Scheduling weight.
    weight: f64,
    /// Whether tasks are flexible by default.
    flexible: bool,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<PlanRecord> for PlanView {
    fn from(plan: PlanRecord) -> Self {
        let limits = plan.limits;
        Self {
            name: plan.name.to_string(),
            submits_per_second: limits.submits_per_second,
            submit_burst: limits.submit_burst,
            submits_per_hour: limits.submits_per_hour,
            running_tasks: limits.running_tasks,
            backlog: limits.backlog,
            schedules: limits.schedules,
            payload_bytes: limits.payload_bytes,
            stored_output_bytes: limits.stored_output_bytes,
            retention_days: limits.retention_days,
            weight: limits.weight,
            flexible: limits.flexible,
            created_at: plan.created_at,
            updated_at: plan.updated_at,
        }
    }
}

/// The plan named in the path.
pub(super) fn name_of(call: &OperatorCall) -> Result<PlanName, Problem> {
    let text = call.request.match_info().get("name").unwrap_or_default();
    text.parse().map_err(|error: domain::id::ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}
