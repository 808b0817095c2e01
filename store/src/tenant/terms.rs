//! On which terms tenants run, for the batcher.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::hot::kept;
use crate::malformed::tell;
use domain::id::TenantId;
use domain::plan::PlanLimits;
use domain::tenant::TenantState;
use uuid::Uuid;

/// What the batcher must know of a tenant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TenantTerms {
    /// Which.
    pub tenant: TenantId,
    /// Its share where tenants compete: its own, else its plan's.
    pub weight: f64,
    /// Tasks that may be queued, running or cancelling at once.
    pub running_tasks: u32,
    /// How it stands.
    pub state: TenantState,
}

/// The terms of those of `tenants` that exist. What of one cannot be used is told, and something usual holds in its place: one bad
/// row keeps nobody else from running.
///
/// # Errors
/// When the database cannot answer.
pub async fn terms(db: &SchedulerDb, tenants: &[TenantId]) -> Result<Vec<TenantTerms>, StoreError> {
    let ids: Vec<_> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    let query = sqlx::query!(
        r#"select t.id, t.weight as "own_weight?", p.name as "plan!", p.weight as "weight?", p.running_tasks as "running_tasks?",
                t.state as "state?"
            from tenant t join plan p on p.name = t.plan where t.id = any ($1)"#,
        &ids
    );
    let rows = kept!(db.dispatch(), "tenant.terms", query.fetch_all);
    let terms = rows.into_iter().map(|row| TenantTerms {
        tenant: TenantId(row.id),
        weight: weight(row.id, row.own_weight, &row.plan, row.weight),
        running_tasks: running_tasks(&row.plan, row.running_tasks),
        state: standing(row.id, row.state),
    });
    Ok(terms.collect())
}

/// The tenant's own, else its plan's, else the usual one; one that is none is not used.
fn weight(id: Uuid, own: Option<f64>, plan: &str, of_plan: Option<f64>) -> f64 {
    let usable = |weight: &f64| *weight > 0.0 && *weight <= 1000.0;
    if own.is_some_and(|own| !usable(&own)) {
        tell("tenant", &TenantId(id).to_string(), "weight");
    }
    own.filter(usable).or(of_plan.filter(usable)).unwrap_or_else(|| {
        tell("plan", plan, "weight");
        PlanLimits::default().weight
    })
}

fn running_tasks(plan: &str, stored: Option<i32>) -> u32 {
    let usable = stored.filter(|tasks| (1..=10_000_000).contains(tasks));
    usable.map(i32::unsigned_abs).unwrap_or_else(|| {
        tell("plan", plan, "running_tasks");
        PlanLimits::default().running_tasks
    })
}

/// A tenant of which nobody knows how it stands runs nothing until somebody says so.
pub(crate) fn standing(id: Uuid, stored: Option<String>) -> TenantState {
    stored.as_deref().and_then(|state| state.parse().ok()).unwrap_or_else(|| {
        tell("tenant", &TenantId(id).to_string(), "state");
        TenantState::Suspended
    })
}
