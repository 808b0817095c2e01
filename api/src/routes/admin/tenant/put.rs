//! `PUT /v1/admin/tenants/{id}`: a tenant under its name, new or as it is from now on. The same again changes nothing.

use super::view::{check_weight, no_such_plan, shown, unknown};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{json as body, other_version, text_in_path, wanted_version};
use actix_web::http::StatusCode;
use api_types::Tenant;
use api_types::request::TenantPut;
use domain::name::ParseTenantNameError;
use domain::tenant::TenantState;
use store::tenant::{PutTenant, TenantStored, WhichTenant};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a tenant",
    description: "By name; an id names a tenant that exists. Omitted fields get their defaults. Takes effect within two seconds, also \
                  for waiting tasks.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("TenantPut"),
    answers: &[
        AnswerDoc { status: 201, text: "The new tenant", content: Content::Json("Tenant") },
        AnswerDoc { status: 200, text: "Changed, or unchanged", content: Content::Json("Tenant") },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound, Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it; `not_found` for an id; `conflict` where the tenant is deleted; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Tenant>, Problem> {
    call.query()?.finish()?;
    let which = which(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let spec: TenantPut = body::parse(&call.body)?;
    check_weight(spec.weight)?;
    if spec.state == Some(TenantState::Deleted) {
        let detail = "must be `active` or `suspended`; delete a tenant with DELETE";
        return Err(Problem::at(Code::ValidationFailed, "/state", detail));
    }
    let suspended = spec.state == Some(TenantState::Suspended);
    let put = PutTenant { plan: spec.plan, weight: spec.weight, suspended };
    let (db, by) = (&call.state.admin, call.by());
    match store::tenant::put(db, &which, if_version, &put, by).await? {
        TenantStored::Created(tenant) => Ok(shown(StatusCode::CREATED, tenant)),
        TenantStored::Updated(tenant) | TenantStored::Unchanged(tenant) => {
            Ok(shown(StatusCode::OK, tenant))
        }
        TenantStored::VersionMismatch { version } => Err(other_version("tenant", version)),
        TenantStored::Deleted => Err(Problem::new(
            Code::Conflict,
            "The tenant is deleted, and keeps its name until it is purged.",
        )),
        TenantStored::NotFound => Err(unknown()),
        TenantStored::NoSuchPlan => Err(no_such_plan()),
    }
}

/// Which tenant is to be stored. What reads as an id is one, whatever tenants are called.
fn which(call: &OperatorCall) -> Result<WhichTenant, Problem> {
    let wrong = |detail: String| Problem::at(Code::InvalidParameter, "path:id", detail);
    let text = text_in_path(&call.request, "id");
    let text = text.ok_or_else(|| wrong("must be percent-encoded UTF-8".to_owned()))?;
    match text.parse() {
        Ok(id) => Ok(WhichTenant::Id(id)),
        Err(_) => text
            .parse()
            .map(WhichTenant::Name)
            .map_err(|error: ParseTenantNameError| wrong(error.to_string())),
    }
}
