//! `PUT /v1/admin/plans/{name}`: a plan, new or as it is from now on.

use super::view::{mismatch, name_of, shown};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, FieldError, Problem};
use crate::request::{json as body, wanted_version};
use actix_web::http::StatusCode;
use api_types::Plan;
use domain::plan::PlanLimits;
use store::plan::PlanStored;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a plan",
    description: "All limits must be given. A change takes effect within two seconds; tenants keep what they have.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("PlanLimits"),
    answers: &[
        AnswerDoc { status: 201, text: "The new plan", content: Content::Json("Plan") },
        AnswerDoc { status: 200, text: "Changed, or unchanged", content: Content::Json("Plan") },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Plan>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let limits: PlanLimits = body::parse(&call.body)?;
    limits.check().map_err(|wrong| {
        let at = |wrong: domain::plan::LimitError| FieldError {
            pointer: format!("/{}", wrong.limit),
            detail: format!("must be {}", wrong.range),
        };
        Problem::with_errors(Code::ValidationFailed, wrong.into_iter().map(at).collect())
    })?;
    match store::plan::put(&call.state.admin, &name, if_version, &limits, call.by()).await? {
        PlanStored::Created(plan) => Ok(shown(StatusCode::CREATED, plan)),
        PlanStored::Updated(plan) | PlanStored::Unchanged(plan) => Ok(shown(StatusCode::OK, plan)),
        PlanStored::VersionMismatch { version } => Err(mismatch(version)),
    }
}
