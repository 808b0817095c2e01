//! Which spend cap has no room for a node whose turn has come, for whoever asks why it waits.

use super::read::{GatedTask, RunOfGates, results};
use crate::connect::ApiDb;
use crate::spend;
use crate::statement::patient;
use crate::task::reserve::would_reserve;
use crate::{StoreError, TenantScope};
use domain::explain::CapLack;
use domain::id::{TaskId, WorkflowRunId};
use domain::price::{Micros, Reservation};
use domain::task::Run;
use sqlx::PgConnection;

/// The cap that has no room for the task as its gate opens; `None` for every other task.
///
/// # Errors
/// When the database cannot answer, or takes longer than a read may.
pub async fn lack(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
) -> Result<Option<CapLack>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let Some(gated) = read(&mut tx, scope, task).await? else { return Ok(None) };
    let Some(one) = would_reserve(&mut tx, gated.0.key).await? else { return Ok(None) };
    let results = results(&mut tx, &[(&gated.0, gated.1)]).await?;
    let result = |of: TaskId| results.get(&(scope.tenant(), of));
    let starts = gated.0.spec.as_ref().map_or(0, |(_, gate)| gate.starts(result));
    // All items reserve together.
    let all = one.amount.0.saturating_mul(i64::try_from(starts).unwrap_or(i64::MAX));
    spend::lack(&mut tx, &Reservation { amount: Micros(all), ..one }).await
}

/// The task where its gate is closed and its turn has come.
async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: TaskId,
) -> Result<Option<(GatedTask, RunOfGates)>, StoreError> {
    let query = sqlx::query!(
        r#"select r.id, s.run as "run?", s.gate as "gate?", r.tasks_since, r.most - r.total as "room!"
            from (select l.* from task l where l.tenant_id = $1 and l.id = $2 limit 1) t
            cross join lateral (select w.id, w.tasks_since, w.most, w.total, w.stopped_at from workflow_run w
                where w.tenant_id = t.tenant_id and w.id = t.run_id limit 1) r
            cross join lateral (select f.run, f.gate from task_spec f where f.id = t.id limit 1) s
            where t.gate = 'closed' and t.needs is null and t.run_at <= now() and t.reservation is null and r.stopped_at is null"#,
        scope.tenant().uuid(),
        task.uuid()
    );
    let row = patient("gate.lack", query.fetch_optional(tx)).await?;
    let read = |run: Option<String>, gate: Option<String>| {
        Some((Run::from_json(&run?).ok()?, serde_json::from_str(&gate?).ok()?))
    };
    Ok(row.map(|row| {
        let gated = GatedTask {
            key: (scope.tenant(), task),
            run: WorkflowRunId(row.id),
            is_gathering: false,
            spec: read(row.run, row.gate),
        };
        (gated, RunOfGates { since: row.tasks_since, room: row.room })
    }))
}
