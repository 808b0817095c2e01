//! Changes what an operator may change of a tenant: its plan and its weight.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::{PlanName, TenantId};
use serde_json::json;

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

/// Changes a tenant that is not deleted, in the request of `by`. It acts within two seconds, on what waits too.
///
/// # Errors
/// When the weight is not above 0 and at most 1000, or the database cannot answer.
pub async fn change(
    db: &AdminDb,
    id: TenantId,
    change: &TenantChange,
    by: By,
) -> Result<Changed, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let lock = sqlx::query!(
        "select plan, weight from tenant where id = $1 and state <> 'deleted' for no key update",
        id.uuid()
    );
    let Some(before) = named("tenant.lock", lock.fetch_optional(&mut *tx)).await? else {
        return Ok(Changed::NotFound);
    };
    let query = sqlx::query!(
        "update tenant set plan = coalesce($2, plan), weight = case when $3 then $4 else weight end
            where id = $1 and state <> 'deleted' returning plan, weight",
        id.uuid(),
        change.plan.as_ref().map(PlanName::as_str),
        change.weight.is_some(),
        change.weight.flatten()
    );
    let after = match named("tenant.change", query.fetch_optional(&mut *tx)).await {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(Changed::NotFound),
        Err(error) if super::is_foreign_key(&error) => return Ok(Changed::NoSuchPlan),
        Err(error) => return Err(error),
    };
    let before = json!({"plan": before.plan, "weight": before.weight});
    let after = json!({"plan": after.plan, "weight": after.weight});
    if before != after {
        let act = Act::new(AuditAction::TenantChange, id).from(before).to(after);
        audit::record_and_commit(tx, id, by, act).await?;
    }
    Ok(Changed::Yes)
}
