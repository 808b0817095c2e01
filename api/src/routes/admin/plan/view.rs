//! A plan as operators see it, and how one is named in a path.

use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use domain::id::PlanName;
use domain::plan::PlanLimits;
use domain::time::Timestamp;
use serde::Serialize;
use store::plan::PlanRecord;

/// A plan; its schema is [`crate::openapi::plan::Plan`].
#[derive(Debug, Serialize)]
pub struct PlanView {
    name: String,
    #[serde(flatten)]
    limits: PlanLimits,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<PlanRecord> for PlanView {
    fn from(plan: PlanRecord) -> Self {
        Self {
            name: plan.name.to_string(),
            limits: plan.limits,
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
