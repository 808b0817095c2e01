//! Ends leases of tasks of which some returned a value: as `for_good`, and the values are stored.
//!
//! A statement of its own, so that ends without a value cost nothing more: most have none.

use super::EndedAttempt;
use super::row::{EndedLease, in_lock_order};
use super::what_stands::answers;
use crate::StoreError;
use crate::statement::named;
use crate::task::transition::TransitionResult;
use crate::task::transition::end::end_tasks;
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::{Event, LeaseKey, ResultValue, State, next};
use sqlx::PgConnection;
use std::collections::HashMap;

/// Completes each task, and stores what the attempt that did it returned.
pub(super) async fn with_results(
    tx: &mut PgConnection,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    let to = |from| next(from, Event::Completed).map(State::as_str);
    let order = in_lock_order(ended);
    let rows: Vec<_> = order.iter().map(|at| EndedLease::of(&ended[*at], 0)).collect();
    let value = |at: &usize| ended[*at].value.as_ref().map(ResultValue::as_str);
    let values: Vec<Option<&str>> = order.iter().map(value).collect();
    let query = end_tasks!(
        of leased: "with gone as (
                delete from task t
                using unnest($1::lease_end[], $4::text[]) i(tenant_id, id, attempt, session_id, outcome, charged, ran_ms, exit_code,
                    signal, reason, stdout, stderr, delay_ms, value)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.attempt = i.attempt and t.session_id = i.session_id
                    and case t.state when 'running' then $2::text when 'cancelling' then $3::text end is not null
                returning t.*, case t.state when 'running' then $2 else $3 end as ends,
                    i.outcome, i.charged, i.ran_ms, i.exit_code, i.signal, i.reason, i.stdout, i.stderr, i.value
            )",
        failures: "failures + (outcome in ('failed', 'killed_cap', 'killed_resources'))::integer",
        started: "first_started_at",
        leases: "gone",
        results: "value",
        answer: r#"select tenant_id as "tenant_id!", id as "id!", attempt as "attempt!", session_id as "session_id!",
                ends as "ends!", children is not null as "is_parent!"
            from gone"#,
        &rows as &[EndedLease<'_>],
        to(State::Running),
        to(State::Cancelling),
        &values as &[Option<&str>]
    );
    let mut moved = HashMap::with_capacity(order.len());
    for row in named(Event::Completed.as_str(), query.fetch_all(&mut *tx)).await? {
        let lease = LeaseKey {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            attempt: row.attempt.unsigned_abs(),
            session: SessionId(row.session_id),
        };
        if let Ok(state) = row.ends.parse() {
            moved.insert(lease, TransitionResult::applied(state, row.is_parent));
        }
    }
    answers(tx, ended, moved).await
}
