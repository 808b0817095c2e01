//! What is known of the tenant of a credential.

use domain::id::PlanName;
use domain::plan::PlanLimits;
use domain::tenant::TenantState;

/// How the caller's tenant stands, and what it may use.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub state: TenantState,
    pub plan: PlanName,
    pub limits: PlanLimits,
}
