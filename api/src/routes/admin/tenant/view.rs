//! A tenant as operators see it, and how one is named in a path.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use crate::request::text_in_path;
use actix_web::http::StatusCode;
use api_types::Tenant;
use domain::id::TenantId;
use domain::tenant::TenantState;
use store::TenantScope;
use store::tenant::TenantRecord;

/// The tenant of a record.
pub(super) fn tenant(record: TenantRecord) -> Tenant {
    Tenant {
        id: record.id,
        version: record.version,
        name: record.name,
        plan: record.plan,
        weight: record.weight,
        state: record.state.into(),
        created_at: record.created_at,
        suspended_at: record.suspended_at,
        deleted_at: record.deleted_at,
        purged_at: record.purged_at,
    }
}

/// The tenant named in the path, by id or name. What reads as an id is one, whatever tenants are called.
pub(super) async fn id_of(call: &OperatorCall) -> Result<TenantId, Problem> {
    let text = text_in_path(&call.request, "id").filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(unknown)?;
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => store::tenant::find_by_name(&call.state.admin, &text).await?.ok_or_else(unknown),
    }
}

/// Shows a tenant, with its version as `ETag`.
pub(super) fn shown(status: StatusCode, record: TenantRecord) -> Answer<Tenant> {
    Answer::versioned(status, record.version, tenant(record))
}

/// Answers with the tenant as it is now.
pub(super) async fn answer(
    call: &OperatorCall,
    status: StatusCode,
    id: TenantId,
) -> Result<Answer<Tenant>, Problem> {
    let found = store::tenant::get(&call.state.admin, id).await?.ok_or_else(unknown)?;
    Ok(Answer::new(status, tenant(found)))
}

/// The rows of the tenant named in the path, for a route beneath it. A deleted one has none.
pub(in crate::routes::admin) async fn scope_of(
    call: &OperatorCall,
) -> Result<TenantScope, Problem> {
    let named = call.request.part("id").unwrap_or_default();
    let no_tenant = || unknown().called(named);
    let id = id_of(call).await.map_err(|problem| problem.called(named))?;
    let tenant = store::tenant::get(&call.state.admin, id).await?.ok_or_else(no_tenant)?;
    if tenant.state == TenantState::Deleted {
        return Err(no_tenant());
    }
    Ok(call.operator.scope_of(id).acting(call.by()))
}

/// The tenant named in the path, for a route about what it owes. A deleted one owes still.
pub(in crate::routes::admin) async fn billed_tenant(
    call: &OperatorCall,
) -> Result<TenantId, Problem> {
    let named = call.request.part("id").unwrap_or_default();
    let id = id_of(call).await.map_err(|problem| problem.called(named))?;
    let tenant = store::tenant::get(&call.state.admin, id).await?;
    tenant.map(|tenant| tenant.id).ok_or_else(|| unknown().called(named))
}

pub(super) fn unknown() -> Problem {
    Problem::no_such("tenant")
}

/// The named plan does not exist.
pub(super) fn no_such_plan() -> Problem {
    Problem::at(Code::ValidationFailed, "/plan", "is not a plan of this installation")
}

/// Refuses a weight out of its range.
pub(super) fn check_weight(weight: Option<f64>) -> Result<(), Problem> {
    if weight.is_none_or(|weight| weight > 0.0 && weight <= 1000.0) {
        return Ok(());
    }
    Err(Problem::at(Code::ValidationFailed, "/weight", "must be more than 0, up to 1000"))
}
