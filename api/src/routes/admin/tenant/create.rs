//! `POST /v1/admin/tenants`: a new customer.

use super::view::{answer, check_weight, no_such_plan};
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::id::{PlanName, TenantId};
use domain::name::ParseTenantNameError;
use serde::Deserialize;
use store::tenant::{Created, NewTenant};
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Create a tenant",
    request: Some("TenantCreate"),
    answers: &[AnswerDoc { status: 201, text: "The new tenant", content: Content::Json("Tenant") }],
    problems: &[Code::Conflict],
    ..Doc::EMPTY
};

/// A tenant to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TenantCreate)]
pub struct TenantSpec {
    /// 1 to 200 visible characters, stored in Unicode NFKC with single spaces. Unique, ignoring case.
    name: String,
    /// Default: `default`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    plan: PlanName,
    /// Scheduling weight, more than 0, up to 1000. Default: the plan's.
    #[serde(default)]
    weight: Option<f64>,
}

/// Answers.
///
/// # Errors
/// What is wrong with it; `conflict` when the name is taken; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let spec: TenantSpec = json::parse(&call.body)?;
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
