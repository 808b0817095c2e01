//! What time has come for: due tasks, stale hints, and late ones that asked to expire.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use domain::task::State;
use domain::time::{Timestamp, millis};
use std::time::Duration;

/// A row whose `wake_at` has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woken {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// Where it was when it was read.
    pub state: State,
    /// Its dispatch, for a stale hint.
    pub dispatch_epoch: i32,
    /// True where it asked to expire when late, has not started, and is late.
    pub expires: bool,
}

/// Up to `limit` unleased tasks whose `wake_at` has passed, the longest overdue first.
///
/// # Errors
/// When the database cannot answer.
pub async fn due_for_a_look(db: &SchedulerDb, limit: i64) -> Result<Vec<Woken>, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, id, state::text as "state!", dispatch_epoch as "dispatch_epoch?",
                (expire_if_late and first_started_at is null and start_deadline < now()) as "expires?"
            from task
            where session_id is null and wake_at <= now()
            -- All of one session (none); naming it lets the index give the order, so that a backlog is never sorted.
            order by session_id, wake_at limit $1"#,
        limit
    );
    let rows = named("task.due_for_a_look", query.fetch_all(db.pool())).await?;
    Ok(rows
        .into_iter()
        .filter_map(|row| {
            Some(Woken {
                tenant: TenantId(row.tenant_id),
                task: TaskId(row.id),
                state: row.state.parse().ok()?,
                // Of a row that cannot be worked with, and ends soon.
                dispatch_epoch: row.dispatch_epoch.unwrap_or(0),
                expires: row.expires.unwrap_or(false),
            })
        })
        .collect())
}

/// A task that waits for its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTask {
    /// Whose it is.
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
                and wake_at <= now() + $1 * interval '1 millisecond' and state in ('scheduled', 'retrying')
            order by session_id, wake_at limit $2"#,
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
