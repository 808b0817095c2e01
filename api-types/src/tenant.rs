//! Tenants, as operators see them.

use crate::{DateTime, Extensible};
use domain::id::{PlanName, TenantId};
use domain::tenant::TenantState;
use serde::{Deserialize, Serialize};

/// A customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tenant {
    /// `tenant_` and 32 hex digits.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: TenantId,
    /// Version, from 1; counts changes of the fields below.
    pub version: i64,
    /// Its name; null after the purge.
    pub name: Option<String>,
    /// Its plan.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub plan: PlanName,
    /// Scheduling weight; null: the plan's.
    pub weight: Option<f64>,
    /// Its state.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::TenantState))]
    pub state: Extensible<TenantState>,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was suspended; null if it is not.
    pub suspended_at: Option<DateTime>,
    /// When it was deleted.
    pub deleted_at: Option<DateTime>,
    /// When its data was purged.
    pub purged_at: Option<DateTime>,
}
