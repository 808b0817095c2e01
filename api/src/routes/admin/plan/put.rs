//! `PUT /v1/admin/plans/{name}`: a plan, new or as it is from now on.

use super::super::named::{mismatch, name_of};
use super::view::shown;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, FieldError, Problem};
use crate::request::{json as body, wanted_version};
use actix_web::http::StatusCode;
use api_types::Plan;
use domain::plan::PutPlan;
use domain::price::PutBilling;
use store::plan::PlanStored;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a plan",
    description: "All limits must be given. A change takes effect within two seconds; tenants keep what they have. \
                  Attempts that are placed from then on are billed by `billing`.",
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
    let plan: PutPlan = body::parse(&call.body)?;
    let wrong = problems(&plan);
    if !wrong.is_empty() {
        return Err(Problem::with_errors(Code::ValidationFailed, wrong));
    }
    match store::plan::put(&call.state.admin, &name, if_version, plan, call.by()).await? {
        PlanStored::Created(plan) => Ok(shown(StatusCode::CREATED, plan)),
        PlanStored::Updated(plan) | PlanStored::Unchanged(plan) => Ok(shown(StatusCode::OK, plan)),
        PlanStored::NoPriceBook => {
            let detail =
                "There is no price book of this name; list them with GET /v1/admin/price-books.";
            Err(Problem::at(Code::ValidationFailed, "/billing/price_book", detail))
        }
        PlanStored::VersionMismatch { version } => Err(mismatch("plan", version)),
    }
}

fn problems(plan: &PutPlan) -> Vec<FieldError> {
    let limits = plan.limits.check().err().into_iter().flatten().map(|wrong| FieldError {
        pointer: format!("/{}", wrong.limit),
        detail: format!("must be {}", wrong.range),
    });
    let billing = match &plan.billing {
        PutBilling::Is(Some(billing)) => billing.problems(),
        PutBilling::Is(None) | PutBilling::Kept => Vec::new(),
    };
    let billing = billing
        .into_iter()
        .map(|(pointer, detail)| FieldError { pointer: format!("/billing{pointer}"), detail });
    limits.chain(billing).collect()
}
