//! `PUT /v1/admin/plans/{name}`: a plan, new or as it is from now on.

use super::view::{PlanView, name_of};
use crate::answer::json;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, FieldError, Problem};
use crate::request::json as body;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::plan::PlanLimits;
use serde::Deserialize;
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a plan",
    description: "All limits must be given. A change takes effect within two seconds; tenants keep what they have.",
    request: Some("PlanLimits"),
    answers: &[
        AnswerDoc { status: 201, text: "The new plan", content: Content::Json("Plan") },
        AnswerDoc { status: 200, text: "The changed plan", content: Content::Json("Plan") },
    ],
    ..Doc::EMPTY
};

/// Limits of a plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlanLimits)]
pub struct PlanSpec {
    /// Tasks submitted per second, 1 to 1 000 000.
    submits_per_second: u32,
    /// Burst of submitted tasks, 1 to 10 000 000.
    submit_burst: u32,
    /// Tasks submitted per hour; 0: no limit.
    submits_per_hour: u32,
    /// Tasks queued, running or cancelling, 1 to 10 000 000.
    running_tasks: u32,
    /// Unfinished tasks, 1 to 100 000 000.
    backlog: u32,
    /// Schedules that are not finished, up to 10 000 000.
    schedules: u32,
    /// Largest body of one task, bytes, 1024 to 16 777 216.
    payload_bytes: u32,
    /// Stored output, bytes, up to 2^50.
    stored_output_bytes: u64,
    /// Days for which finished tasks are shown, 1 to 3650, at most `limits.history_retention_days`.
    retention_days: u16,
    /// Scheduling weight, above 0, up to 1000.
    weight: f64,
    /// Whether tasks are flexible by default. Default false.
    #[serde(default)]
    flexible: bool,
}

impl From<PlanSpec> for PlanLimits {
    fn from(spec: PlanSpec) -> Self {
        Self {
            submits_per_second: spec.submits_per_second,
            submit_burst: spec.submit_burst,
            submits_per_hour: spec.submits_per_hour,
            running_tasks: spec.running_tasks,
            backlog: spec.backlog,
            schedules: spec.schedules,
            payload_bytes: spec.payload_bytes,
            stored_output_bytes: spec.stored_output_bytes,
            retention_days: spec.retention_days,
            weight: spec.weight,
            flexible: spec.flexible,
        }
    }
}

/// Answers.
///
/// # Errors
/// What is wrong with it; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let limits: PlanLimits = body::parse::<PlanSpec>(&call.body)?.into();
    limits.check().map_err(|wrong| {
        let at = |wrong: domain::plan::LimitError| FieldError {
            pointer: format!("/{}", wrong.limit),
            detail: format!("must be {}", wrong.range),
        };
        Problem::with_errors(Code::ValidationFailed, wrong.into_iter().map(at).collect())
    })?;
    let made = store::plan::put(&call.state.admin, &name, &limits, call.by()).await?;
    let plan = store::plan::find(&call.state.admin, &name).await?;
    let plan = plan.ok_or_else(|| Problem::no_such("plan"))?;
    json(if made { StatusCode::CREATED } else { StatusCode::OK }, &PlanView::from(plan))
}
