//! `cancel_requested`: the owner asked to cancel.
//!
//! What does not run ends cancelled at once; what runs goes to cancelling, and its executor is told until it
//! confirms. A first statement locks the rows, in order, and a second one moves them: it sees them as they are then and
//! stay, so that the answer says what stood and what was done, whatever else wants to move them.

use super::end::end_tasks;
use crate::connect::ApiDb;
use crate::statement::{named, repeated};
use crate::{StoreError, TenantScope};
use domain::id::{TaskId, TenantId};
use domain::task::State;
use domain::time::millis;
use sqlx::PgConnection;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// What a cancel did to one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAnswer {
    /// It had not started, and is cancelled.
    Cancelled,
    /// It runs; its executor will be told to stop it.
    Requested,
    /// It was asked to stop before, and has not confirmed yet.
    AlreadyRequested,
    /// It had ended, in this state.
    Ended(State),
    /// This tenant has no such task.
    NotFound,
}

/// Cancels `tasks` of the tenant; answers in order. A running one must have ended `grace` from now (kill grace + 30 s),
/// else its session is fenced.
///
/// # Errors
/// When the database cannot answer; then nothing was cancelled.
pub async fn cancel_requested(
    db: &ApiDb,
    scope: &TenantScope,
    tasks: &[TaskId],
    grace: Duration,
) -> Result<Vec<CancelAnswer>, StoreError> {
    let mut ids: Vec<_> = tasks.iter().map(|task| task.uuid()).collect();
    ids.sort_unstable();
    ids.dedup();
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        let keys: Vec<_> = ids.iter().map(|id| (scope.tenant(), TaskId(*id))).collect();
        let stood = cancel(&mut tx, &keys, grace, "cancelled by its owner").await?;
        let missed: Vec<_> = ids.iter().copied().filter(|id| !stood.contains_key(id)).collect();
        let ended = what_ended(&mut tx, scope, &missed).await?;
        named("commit", tx.commit()).await?;
        let answer = |task: &TaskId| match stood.get(&task.uuid()) {
            Some(State::Running) => CancelAnswer::Requested,
            Some(State::Cancelling) => CancelAnswer::AlreadyRequested,
            Some(_) => CancelAnswer::Cancelled,
            None => ended
                .get(&task.uuid())
                .map_or(CancelAnswer::NotFound, |state| CancelAnswer::Ended(*state)),
        };
        Ok(tasks.iter().map(answer).collect())
    })
    .await
}

/// Cancels `tasks` in the transaction (of a `SchedulerDb`) of what comes in their place; how many run and were asked to stop.
///
/// # Errors
/// When the database cannot answer; then the transaction must not be committed.
pub(crate) async fn cancel_requested_in(
    tx: &mut PgConnection,
    tasks: &[(TenantId, TaskId)],
    grace: Duration,
) -> Result<usize, StoreError> {
    let mut keys = tasks.to_vec();
    keys.sort_unstable();
    keys.dedup();
    let stood = cancel(tx, &keys, grace, "its schedule fired again").await?;
    Ok(stood.values().filter(|state| **state == State::Running).count())
}

/// Cancels what lives of `keys`; the states in which they stood.
async fn cancel(
    tx: &mut PgConnection,
    keys: &[(TenantId, TaskId)],
    grace: Duration,
    reason: &str,
) -> Result<HashMap<Uuid, State>, StoreError> {
    let stood = lock(&mut *tx, keys).await?;
    let in_state = |wanted: fn(State) -> bool| -> Vec<(TenantId, TaskId)> {
        keys.iter()
            .copied()
            .filter(|(_, id)| stood.get(&id.uuid()).is_some_and(|state| wanted(*state)))
            .collect()
    };
    let groups = [in_state(|s| !s.is_leased()), in_state(|s| s == State::Running)];
    move_on(tx, groups, grace, reason).await?;
    Ok(stood)
}

fn columns(keys: &[(TenantId, TaskId)]) -> (Vec<Uuid>, Vec<Uuid>) {
    keys.iter().map(|(tenant, task)| (tenant.uuid(), task.uuid())).unzip()
}

/// Locks what lives of `keys`; the states in which they stay from now on.
async fn lock(
    tx: &mut PgConnection,
    keys: &[(TenantId, TaskId)],
) -> Result<HashMap<Uuid, State>, StoreError> {
    let (tenants, ids) = columns(keys);
    let query = sqlx::query!(
        r#"select t.id, t.state::text as "state!" from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            cross join lateral (
                select l.id, l.state from task l where l.tenant_id = i.tenant_id and l.id = i.id limit 1 for update
            ) t"#,
        &tenants,
        &ids
    );
    let rows = named("cancel_requested.lock", query.fetch_all(tx)).await?;
    Ok(rows.into_iter().filter_map(|row| Some((row.id, row.state.parse().ok()?))).collect())
}

async fn move_on(
    tx: &mut PgConnection,
    [waiting, running]: [Vec<(TenantId, TaskId)>; 2],
    grace: Duration,
    reason: &str,
) -> Result<(), StoreError> {
    if waiting.is_empty() && running.is_empty() {
        return Ok(());
    }
    let (waiting, running) = (columns(&waiting), columns(&running));
    let query = end_tasks!(
        of waiting: "with gone as (
                delete from task t using unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                returning t.*
            ), asked as (
                update task t set state = 'cancelling', wake_at = least(t.wake_at, now() + $5 * interval '1 millisecond')
                from unnest($3::uuid[], $4::uuid[]) as i(tenant_id, id)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id and t.state = 'running'
                returning t.tenant_id, t.id, t.attempt, t.state
            )",
        state: "'cancelled'",
        reason: "$6",
        moved: "asked",
        answer: "select from gone",
        &waiting.0,
        &waiting.1,
        &running.0,
        &running.1,
        millis(grace) as f64,
        reason
    );
    named("cancel_requested", query.execute(tx)).await.map(|_| ())
}

/// What is not alive now never will be again: it has ended, or never was.
async fn what_ended(
    tx: &mut PgConnection,
    scope: &TenantScope,
    missed: &[Uuid],
) -> Result<HashMap<Uuid, State>, StoreError> {
    if missed.is_empty() {
        return Ok(HashMap::new());
    }
    let query = sqlx::query!(
        r#"select i.id as "id!", h.state::text as "state!" from unnest($2::uuid[]) as i(id)
            cross join lateral (
                select e.state from task_history e where e.tenant_id = $1 and e.id = i.id limit 1
            ) h"#,
        scope.tenant().uuid(),
        missed
    );
    let rows = named("cancel_requested.what_ended", query.fetch_all(tx)).await?;
    Ok(rows.into_iter().filter_map(|row| Some((row.id, row.state.parse().ok()?))).collect())
}
