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

/// Answers.
///
/// # Errors
/// What is wrong with it; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let limits: PlanLimits = body::parse(&call.body)?;
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
