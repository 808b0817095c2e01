//! Tells whether output that is being written has grown.
//!
//! Asked for by the api's live logs, once for all followed tasks of a tenant; it reads only where a pulse has changed.

use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::task::State;

/// What a follower compares: any difference to the pulse before means that there may be something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// The task.
    pub task: TaskId,
    /// Its state.
    pub state: State,
    /// Its latest attempt; 0 before the first.
    pub attempt: u32,
    /// Newest chunk of that attempt's standard output within the last hour.
    pub stdout: Option<u32>,
    /// Newest chunk of that attempt's standard error within the last hour.
    pub stderr: Option<u32>,
}

/// The pulses of those of `tasks` that this tenant has, in any order. Looks only at output of the last hour: a follower
/// reads what is older before it waits.
///
/// # Errors
/// When the database cannot answer.
pub async fn pulses(
    db: &ApiDb,
    scope: &TenantScope,
    tasks: &[TaskId],
) -> Result<Vec<Pulse>, StoreError> {
    let ids: Vec<_> = tasks.iter().map(|id| id.uuid()).collect();
    // One caller reads for all that is followed: no tenant's turn may hold up the others.
    let mut tx = crate::scoped::scoped_read_for_all(db, scope).await?;
    let query = sqlx::query!(
        r#"select i.id as "id!", coalesce(t.state, h.state)::text as "state!",
                coalesce(t.attempt, h.attempt) as "attempt!", o.seq as "stdout?", e.seq as "stderr?"
            from unnest($2::uuid[]) as i(id)
            left join lateral (select l.state, l.attempt from task l where l.tenant_id = $1 and l.id = i.id limit 1) t on true
            left join lateral (select p.state, p.attempt from task_history p
                where p.tenant_id = $1 and p.id = i.id and t.state is null limit 1) h on true
            left join lateral (select c.seq from task_output c where c.tenant_id = $1 and c.task_id = i.id
                and c.attempt = coalesce(t.attempt, h.attempt) and c.stream = 1
                and c.stored_at >= now() - interval '1 hour' order by c.seq desc limit 1) o on true
            left join lateral (select c.seq from task_output c where c.tenant_id = $1 and c.task_id = i.id
                and c.attempt = coalesce(t.attempt, h.attempt) and c.stream = 2
                and c.stored_at >= now() - interval '1 hour' order by c.seq desc limit 1) e on true
            where coalesce(t.state, h.state) is not null"#,
        scope.tenant().uuid(),
        &ids
    );
    let rows = patient("output.pulses", query.fetch_all(&mut *tx)).await?;
    rows.into_iter()
        .map(|row| {
            let state = row.state.parse().map_err(|_| StoreError::Malformed {
                what: "state",
                row: row.id.to_string(),
                value: row.state.clone(),
            })?;
            Ok(Pulse {
                task: TaskId(row.id),
                state,
                attempt: row.attempt.unsigned_abs(),
                stdout: row.stdout.map(i32::unsigned_abs),
                stderr: row.stderr.map(i32::unsigned_abs),
            })
        })
        .collect()
}
