//! Changes what an operator may change of a tenant: its plan and its weight.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::{PlanName, TenantId};

/// What to change; the rest stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantChange {
    /// Its plan.
    pub plan: Option<PlanName>,
    /// Its weight: `Some(None)` is the plan's.
    pub weight: Option<Option<f64>>,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It is as asked; also where it was before.
    Yes,
    /// There is no such tenant, or it is deleted.
    NotFound,
    /// There is no such plan.
    NoSuchPlan,
}

/// Changes a tenant that is not deleted. It acts within two seconds, on what waits too.
///
/// # Errors
/// When the weight is not above 0 and at most 1000, or the database cannot answer.
pub async fn change(
    db: &AdminDb,
    id: TenantId,
    change: &TenantChange,
) -> Result<Changed, StoreError> {
    let query = sqlx::query!(
        "update tenant set plan = coalesce($2, plan), weight = case when $3 then $4 else weight end
            where id = $1 and state <> 'deleted'",
        id.uuid(),
        change.plan.as_ref().map(PlanName::as_str),
        change.weight.is_some(),
        change.weight.flatten()
    );
    match named("tenant.change", query.execute(db.pool())).await {
        Ok(done) if done.rows_affected() == 1 => Ok(Changed::Yes),
        Ok(_) => Ok(Changed::NotFound),
        Err(error) if super::is_foreign_key(&error) => Ok(Changed::NoSuchPlan),
        Err(error) => Err(error),
    }
}
