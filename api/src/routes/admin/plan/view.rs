//! A plan as operators see it, and how one is named in a path.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::Plan;
use domain::id::PlanName;
use store::plan::PlanRecord;

/// The plan of a record.
pub(super) fn plan(plan: PlanRecord) -> Plan {
    let PlanRecord { name, version, limits, billing, created_at, updated_at } = plan;
    Plan { name, version, limits, billing, created_at, updated_at }
}

/// Shows a plan, with its version as `ETag`.
pub(super) fn shown(status: StatusCode, record: PlanRecord) -> Answer<Plan> {
    Answer::versioned(status, record.version, plan(record))
}

/// It is in another version than was asked for.
pub(super) fn mismatch(version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The plan has version {version}."),
        None => "The plan does not exist.".to_owned(),
    };
    Problem::new(Code::VersionMismatch, detail)
}

/// The plan named in the path.
pub(super) fn name_of(call: &OperatorCall) -> Result<PlanName, Problem> {
    let text = call.request.match_info().get("name").unwrap_or_default();
    text.parse().map_err(|error: domain::id::ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}
