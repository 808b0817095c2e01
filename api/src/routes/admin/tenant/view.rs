//! A tenant as operators see it, and how one is named in a path.

use crate::answer::{json, versioned};
use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use crate::request::text_in_path;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::id::TenantId;
use domain::tenant::TenantState;
use domain::time::Timestamp;
use serde::Serialize;
use store::TenantScope;
use store::tenant::TenantRecord;
use utoipa::ToSchema;

/// A customer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tenant)]
pub struct TenantView {
    /// `tenant_` and 32 hex digits.
    id: String,
    /// Version, from 1; counts changes of the fields below.
    version: i64,
    /// Its name; null after the purge.
    name: Option<String>,
    /// Its plan.
    plan: String,
    /// Scheduling weight; null: the plan's.
    weight: Option<f64>,
    #[schema(value_type = super::super::super::super::openapi::words::TenantState)]
    state: &'static str,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was suspended; null if it is not.
    #[schema(value_type = Option<String>, format = DateTime)]
    suspended_at: Option<Timestamp>,
    /// When it was deleted.
    #[schema(value_type = Option<String>, format = DateTime)]
    deleted_at: Option<Timestamp>,
    /// When its data was purged.
    #[schema(value_type = Option<String>, format = DateTime)]
    purged_at: Option<Timestamp>,
}

impl From<TenantRecord> for TenantView {
    fn from(tenant: TenantRecord) -> Self {
        Self {
            id: tenant.id.to_string(),
            version: tenant.version,
            name: tenant.name,
            plan: tenant.plan.to_string(),
            weight: tenant.weight,
            state: tenant.state.as_str(),
            created_at: tenant.created_at,
            suspended_at: tenant.suspended_at,
            deleted_at: tenant.deleted_at,
            purged_at: tenant.purged_at,
        }
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
pub(super) fn shown(status: StatusCode, tenant: TenantRecord) -> Result<HttpResponse, Problem> {
    versioned(status, tenant.version, &TenantView::from(tenant))
}

/// Answers with the tenant as it is now.
pub(super) async fn answer(
    call: &OperatorCall,
    status: StatusCode,
    id: TenantId,
) -> Result<HttpResponse, Problem> {
    let tenant = store::tenant::get(&call.state.admin, id).await?.ok_or_else(unknown)?;
    json(status, &TenantView::from(tenant))
}

/// The rows of the tenant named in the path, for a route beneath it. A deleted one has none.
pub(in crate::routes::admin) async fn scope_of(
    call: &OperatorCall,
) -> Result<TenantScope, Problem> {
    let named = call.request.match_info().get("id").unwrap_or_default();
    let no_tenant = || unknown().called(named);
    let id = id_of(call).await.map_err(|problem| problem.called(named))?;
    let tenant = store::tenant::get(&call.state.admin, id).await?.ok_or_else(no_tenant)?;
    if tenant.state == TenantState::Deleted {
        return Err(no_tenant());
    }
    Ok(call.operator.scope_of(id).acting(call.by()))
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
