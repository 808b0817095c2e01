//! A plan as operators see it.

use crate::answer::Answer;
use actix_web::http::StatusCode;
use api_types::Plan;
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
