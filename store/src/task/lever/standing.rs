//! How a task stands, and stays while the caller's transaction lasts.

use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::task::State;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// What levers ask of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub state: State,
    /// When it is due.
    pub run_at: Timestamp,
    /// Charged attempts that failed.
    pub failures: u32,
    /// It waits for others.
    pub waits: bool,
    /// It waits for its items, a signal or a person.
    pub is_held: bool,
    /// The database's time.
    pub now: Timestamp,
}

/// Locks the task where it lives, else reads how it ended; `None` where this tenant has none of that id.
pub(super) async fn standing(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: TaskId,
) -> Result<Option<Standing>, StoreError> {
    let live = sqlx::query!(
        r#"select t.state::text as "state!", t.run_at, t.failures, now() as "now!", t.needs is not null as "waits!",
                coalesce(t.gate in ('items', 'waiting'), false) as "is_held!"
            from task t where t.tenant_id = $1 and t.id = $2 for update"#,
        scope.tenant().uuid(),
        task.uuid()
    );
    if let Some(row) = named("lever.lock", live.fetch_optional(&mut *tx)).await? {
        let (state, failures) = (read(task, row.state)?, row.failures.unsigned_abs());
        let (run_at, waits, is_held, now) = (row.run_at, row.waits, row.is_held, row.now);
        return Ok(Some(Standing { state, run_at, failures, waits, is_held, now }));
    }
    // What is not alive now never will be again.
    let ended = sqlx::query!(
        r#"select t.state::text as "state!", t.run_at, t.failures, now() as "now!"
            from task_history t where t.tenant_id = $1 and t.id = $2 limit 1"#,
        scope.tenant().uuid(),
        task.uuid()
    );
    let Some(row) = named("lever.ended", ended.fetch_optional(&mut *tx)).await? else {
        return Ok(None);
    };
    let (state, failures) = (read(task, row.state)?, row.failures.unsigned_abs());
    let (run_at, now) = (row.run_at, row.now);
    Ok(Some(Standing { state, run_at, failures, waits: false, is_held: false, now }))
}

fn read(task: TaskId, state: String) -> Result<State, StoreError> {
    let malformed = |value| StoreError::Malformed { what: "state", row: task.to_string(), value };
    state.parse().map_err(|_| malformed(state))
}
