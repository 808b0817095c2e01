//! A tenant as operators see it, and how one is named in a path.

use crate::answer::json;
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
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

/// The tenant named in the path. A malformed id is one that does not exist.
pub(super) fn id_of(call: &OperatorCall) -> Result<TenantId, Problem> {
    let text = call.request.match_info().get("id").unwrap_or_default();
    text.parse().map_err(|_| unknown())
}

/// Answers with the tenant as it is now.
pub(super) async fn answer(
    call: &OperatorCall,
    status: StatusCode,
    id: TenantId,
) -> Result<HttpResponse, Problem> {
    let found = store::tenant::get(&call.state.admin, id).await?.ok_or_else(unknown)?;
    json(status, &tenant(found))
}

/// The rows of the tenant named in the path, for a route beneath it. A deleted one has none.
pub(in crate::routes::admin) async fn scope_of(
    call: &OperatorCall,
) -> Result<TenantScope, Problem> {
    let named = call.request.match_info().get("id").unwrap_or_default();
    let no_tenant = || unknown().called(named);
    let id = id_of(call).map_err(|_| no_tenant())?;
    let tenant = store::tenant::get(&call.state.admin, id).await?.ok_or_else(no_tenant)?;
    if tenant.state == TenantState::Deleted {
        return Err(no_tenant());
    }
    Ok(TenantScope::new(id).acting(call.by()))
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
