//! What time has come for: due tasks, late ones that asked to expire, and stale hints.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use domain::task::{Dispatch, State};
use domain::time::{Timestamp, millis};
use std::time::Duration;

/// A row whose `wake_at` has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woken {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// Where it was when it was read.
    pub state: State,
    /// True where it asked to expire when late, has not started, and is late.
    pub expires: bool,
    /// The parent whose end left it too few: it is to be skipped.
    pub doomed_by: Option<TaskId>,
}

/// Up to `limit` tasks whose `wake_at` has passed and that nobody holds, neither the broker nor an executor; the longest overdue first.
///
/// # Errors
/// When the database cannot answer.
pub async fn due_for_a_look(db: &SchedulerDb, limit: i64) -> Result<Vec<Woken>, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, id, state::text as "state!",
                (expire_if_late and first_started_at is null and start_deadline < now()) as "expires!", doomed_by
            from task
            where session_id is null and wake_at <= now() and state <> 'queued' and (gate is null or needs is not null)
            order by wake_at limit $1"#,
        limit
    );
    let rows = named("task.due_for_a_look", query.fetch_all(db.pool())).await?;
    rows.into_iter()
        .map(|row| {
            Ok(Woken {
                tenant: TenantId(row.tenant_id),
                task: TaskId(row.id),
                state: row.state.parse().map_err(|_| StoreError::Malformed {
                    what: "state",
                    row: TaskId(row.id).to_string(),
                    value: row.state,
                })?,
                expires: row.expires,
                doomed_by: row.doomed_by.map(TaskId),
            })
        })
        .collect()
}

/// Up to `limit` queued tasks whose hint nobody has used by its `wake_at`, each with its dispatch. Costs what is queued.
///
/// # Errors
/// When the database cannot answer.
pub async fn stale_hints(db: &SchedulerDb, limit: i64) -> Result<Vec<Dispatch>, StoreError> {
    let query = sqlx::query!(
        r#"select q.tenant_id as "tenant_id!", q.id as "id!", q.dispatch_epoch as "dispatch_epoch!"
            from (select name from pool order by name limit 100000) p
            -- The offset keeps the planner from reading the whole index instead of each pool's part.
            cross join lateral (
                select t.tenant_id, t.id, t.dispatch_epoch from task t
                where t.pool = p.name and t.state = 'queued' and t.wake_at <= now() offset 0) q
            limit $1"#,
        limit
    );
    let rows = named("task.stale_hints", query.fetch_all(db.pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| Dispatch {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            epoch: row.dispatch_epoch.into(),
        })
        .collect())
}

/// A task that waits for its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTask {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// When it is due.
    pub due_at: Timestamp,
}

/// Up to `limit` tasks that wait for a time within `window` from now, or that came a moment ago, the soonest first. What is longer
/// overdue is a backlog, and [`due_for_a_look`]'s.
///
/// # Errors
/// When the database cannot answer.
pub async fn due_within(
    db: &SchedulerDb,
    window: Duration,
    limit: i64,
) -> Result<Vec<DueTask>, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, id, wake_at as "wake_at!" from task
            where session_id is null and wake_at > now() - interval '1 second'
                and wake_at <= now() + $1 * interval '1 millisecond' and state in ('scheduled', 'retrying') and state <> 'queued'
                and needs is null and gate is null
            order by wake_at limit $2"#,
        millis(window) as f64,
        limit
    );
    let rows = named("task.due_within", query.fetch_all(db.pool())).await?;
    let due = rows.into_iter().map(|row| DueTask {
        tenant: TenantId(row.tenant_id),
        task: TaskId(row.id),
        due_at: row.wake_at,
    });
    Ok(due.collect())
}
