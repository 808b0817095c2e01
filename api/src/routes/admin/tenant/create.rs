//! `POST /v1/admin/tenants`: a new customer.

use super::view::{answer, check_weight, no_such_plan};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::http::StatusCode;
use api_types::Tenant;
use api_types::request::TenantCreate;
use domain::id::TenantId;
use domain::name::ParseTenantNameError;
use store::tenant::{Created, NewTenant};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Create a tenant",
    request: Some("TenantCreate"),
    answers: &[AnswerDoc { status: 201, text: "The new tenant", content: Content::Json("Tenant") }],
    problems: &[Code::Conflict],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `conflict` when the name is taken; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    call.query()?.finish()?;
    let spec: TenantCreate = json::parse(&call.body)?;
    let wrong = |error: ParseTenantNameError| {
        Problem::at(Code::ValidationFailed, "/name", error.to_string())
    };
    let name = spec.name.parse().map_err(wrong)?;
    check_weight(spec.weight)?;
    let new = NewTenant { id: TenantId::fresh(), name, plan: spec.plan, weight: spec.weight };
    match store::tenant::create(&call.state.admin, &new, call.by()).await? {
        Created::Yes => answer(&call, StatusCode::CREATED, new.id).await,
        Created::NameTaken => Err(Problem::new(
            Code::Conflict,
            "A tenant with this or a similar name already exists.",
        )),
        Created::NoSuchPlan => Err(no_such_plan()),
    }
}
