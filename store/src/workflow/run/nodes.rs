//! How the nodes of a run stand.

use crate::StoreError;
use crate::TenantScope;
use crate::connect::ApiDb;
use crate::statement::{named, patient};
use domain::id::{TaskId, TenantId};
use domain::task::State;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// How the task of a node stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRecord {
    /// The task.
    pub task: TaskId,
    /// Its state; `None` where it is in no history any more.
    pub state: Option<State>,
    /// It waits for a signal with this key.
    pub signal: Option<String>,
    /// It waits for a person.
    pub waits_for_approval: bool,
    /// Whether its parents have released it.
    pub is_released: bool,
    /// If it is `scheduled` and released: when it is due, or its wait expires.
    pub wakes_at: Option<Timestamp>,
    /// Attempts so far.
    pub attempts: u32,
    /// When its first attempt was placed.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Why it ended as it did.
    pub reason: Option<String>,
}

/// How `tasks` stand, in their order; none of them ended before `since`.
///
/// # Errors
/// When the database cannot answer.
pub async fn nodes(
    db: &ApiDb,
    scope: &TenantScope,
    tasks: &[TaskId],
    since: Timestamp,
) -> Result<Vec<NodeRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let ids: Vec<Uuid> = tasks.iter().map(|task| task.uuid()).collect();
    let query = sqlx::query!(
        r#"select i.id as "id!", coalesce(t.state, h.state)::text as "state?", t.signal_key as "signal_key?",
                coalesce(t.gate = 'waiting' and t.signal_key is null, false) as "approval!",
                t.needs is null or coalesce(t.gate = 'items', false) as "is_released!", t.wake_at as "wakes_at?",
                coalesce(t.attempt, h.attempt, 0) as "attempts!",
                coalesce(t.first_started_at, h.first_started_at) as "started_at?", h.finished_at as "finished_at?", h.reason as "reason?"
            from unnest($2::uuid[]) with ordinality as i(id, place)
            left join lateral (
                select f.state, f.signal_key, f.gate, f.attempt, f.first_started_at, f.needs,
                    case when f.needs is null then f.wake_at end as wake_at from task f
                where f.tenant_id = $1 and f.id = i.id limit 1) t on true
            left join lateral (
                select e.state, e.attempt, e.first_started_at, e.finished_at, e.reason from task_history e
                where e.tenant_id = $1 and e.id = i.id and e.finished_at >= $3 limit 1) h on true
            order by i.place"#,
        scope.tenant().uuid(),
        &ids,
        since
    );
    let rows = patient("run.nodes", query.fetch_all(&mut *tx)).await?;
    let nodes = rows.into_iter().map(|row| NodeRecord {
        task: TaskId(row.id),
        state: row.state.and_then(|state| state.parse().ok()),
        signal: row.signal_key,
        waits_for_approval: row.approval,
        is_released: row.is_released,
        wakes_at: row.wakes_at,
        attempts: row.attempts.unsigned_abs(),
        started_at: row.started_at,
        finished_at: row.finished_at,
        reason: row.reason,
    });
    Ok(nodes.collect())
}

/// The tasks that nodes with `for_each` became, by the tasks of these nodes.
pub type ItemTasks = HashMap<TaskId, Vec<TaskId>>;

/// What `nodes` became, which are tasks of one run and of those that it took over.
///
/// # Errors
/// When the database cannot answer.
pub async fn items(
    db: &ApiDb,
    scope: &TenantScope,
    nodes: &[TaskId],
) -> Result<ItemTasks, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let ids: Vec<Uuid> = nodes.iter().map(|task| task.uuid()).collect();
    let query = sqlx::query!(
        "select task_id, tasks from workflow_items where tenant_id = $1 and task_id = any ($2)",
        scope.tenant().uuid(),
        &ids
    );
    let rows = patient("run.items", query.fetch_all(&mut *tx)).await?;
    let tasks = |ids: Vec<Uuid>| ids.into_iter().map(TaskId).collect();
    Ok(rows.into_iter().map(|row| (TaskId(row.task_id), tasks(row.tasks))).collect())
}

/// How `tasks` ended, and what they returned, in their order; `None` where one has not ended since `since`.
pub(in crate::workflow) async fn ends(
    tx: &mut PgConnection,
    tasks: &[(TenantId, TaskId, Timestamp)],
) -> Result<Vec<Option<(State, Option<String>)>>, StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|(tenant, ..)| tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|(_, task, _)| task.uuid()).collect();
    let since: Vec<_> = tasks.iter().map(|(.., since)| *since).collect();
    let query = sqlx::query!(
        r#"select h.state::text as "state?", r.value as "value?"
            from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) with ordinality as i(tenant_id, id, since, place)
            left join lateral (
                select e.state, e.finished_at from task_history e
                where e.tenant_id = i.tenant_id and e.id = i.id and e.finished_at >= i.since limit 1) h on true
            left join lateral (
                select f.value from task_result f
                where f.tenant_id = i.tenant_id and f.task_id = i.id and f.finished_at = h.finished_at limit 1) r on true
            order by i.place"#,
        &tenants,
        &ids,
        &since
    );
    let rows = named("run.ends", query.fetch_all(tx)).await?;
    let end = |state: Option<String>, value| Some((state?.parse().ok()?, value));
    Ok(rows.into_iter().map(|row| end(row.state, row.value)).collect())
}
