//! On which terms tenants run, for the batcher.

use super::state_of;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use crate::plan::limits_of;
use domain::id::TenantId;
use domain::tenant::TenantState;

/// What the batcher must know of a tenant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TenantTerms {
    /// The tenant.
    pub tenant: TenantId,
    /// Its share where tenants compete: its own, else its plan's.
    pub weight: f64,
    /// Tasks that may be queued, running or cancelling at once.
    pub running_tasks: u32,
    /// How it stands.
    pub state: TenantState,
}

/// The terms of those of `tenants` that exist.
///
/// # Errors
/// When the database cannot answer.
pub async fn terms(db: &SchedulerDb, tenants: &[TenantId]) -> Result<Vec<TenantTerms>, StoreError> {
    let ids: Vec<_> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    let query = sqlx::query!(
        r#"select t.id, t.weight, p.limits::text as "limits!", t.state
            from tenant t join plan p on p.name = t.plan where t.id = any ($1)"#,
        &ids
    );
    let rows = on_own!(db.dispatch(), "tenant.terms", query.fetch_all);
    rows.into_iter()
        .map(|row| {
            let limits = limits_of(&row.limits)?;
            Ok(TenantTerms {
                tenant: TenantId(row.id),
                weight: row.weight.unwrap_or(limits.weight),
                running_tasks: limits.running_tasks,
                state: state_of(&row.state, row.id)?,
            })
        })
        .collect()
}
