//! Ends leases of tasks that end with them: every row goes to history.

use super::EndedAttempt;
use super::row::{EndedLease, in_lock_order};
use super::what_stands::answers;
use crate::StoreError;
use crate::statement::named;
use crate::task::transition::TransitionResult;
use crate::task::transition::end::end_tasks;
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::{Event, LeaseKey, State, next};
use sqlx::PgConnection;
use std::collections::HashMap;

/// Moves each row to where `event` leads from its state; a state the event does not leave keeps its lease.
pub(in super::super) async fn for_good(
    tx: &mut PgConnection,
    event: Event,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    let to = |from| next(from, event).map(State::as_str);
    let order = in_lock_order(ended);
    let rows: Vec<_> = order.iter().map(|at| EndedLease::of(&ended[*at], 0)).collect();
    let query = end_tasks!(
        of leased: "with gone as (
                delete from task t
                using unnest($1::lease_end[]) i
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.attempt = i.attempt and t.session_id = i.session_id
                    and case t.state when 'running' then $2::text when 'cancelling' then $3::text end is not null
                returning t.*, case t.state when 'running' then $2 else $3 end as ends,
                    i.outcome, i.charged, i.ran_ms, i.exit_code, i.signal, i.reason, i.stdout, i.stderr
            )",
        failures: "failures + (outcome in ('failed', 'killed_cap', 'killed_resources'))::integer",
        started: "first_started_at",
        leases: "gone",
        answer: r#"select tenant_id as "tenant_id!", id as "id!", attempt as "attempt!", session_id as "session_id!",
                ends as "ends!"
            from gone"#,
        &rows as &[EndedLease<'_>],
        to(State::Running),
        to(State::Cancelling)
    );
    let mut moved = HashMap::with_capacity(order.len());
    for row in named(event.as_str(), query.fetch_all(&mut *tx)).await? {
        let lease = LeaseKey {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            attempt: row.attempt.unsigned_abs(),
            session: SessionId(row.session_id),
        };
        if let Ok(state) = row.ends.parse() {
            moved.insert(lease, state);
        }
    }
    answers(tx, ended, moved).await
}
