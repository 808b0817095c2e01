//! `PATCH /v1/admin/tenants/{id}`: another plan, another weight.

use super::view::{answer, check_weight, id_of, no_such_plan, unknown};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::http::StatusCode;
use api_types::Tenant;
use api_types::request::TenantChange;
use store::tenant::{self, Changed};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Change a tenant's plan or weight",
    description: "Takes effect within two seconds, also for waiting tasks. A tenant over the quotas of a smaller plan keeps what it \
                  has.",
    request: Some("TenantChange"),
    answers: &[AnswerDoc { status: 200, text: "The tenant", content: Content::Json("Tenant") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `not_found`, also for a deleted tenant; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    call.query()?.finish()?;
    let id = id_of(&call).await?;
    let spec: TenantChange = json::parse(&call.body)?;
    check_weight(spec.weight.flatten())?;
    let change = tenant::TenantChange { plan: spec.plan, weight: spec.weight };
    match store::tenant::change(&call.state.admin, id, &change, call.by()).await? {
        Changed::Yes => answer(&call, StatusCode::OK, id).await,
        Changed::NotFound => Err(unknown()),
        Changed::NoSuchPlan => Err(no_such_plan()),
    }
}
