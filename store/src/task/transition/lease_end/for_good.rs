//! Ends leases of tasks that end with them: every row goes to history, and what a task returned beside it.

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
use uuid::Uuid;

/// The statement, with what else happens at the end (`$more`, as [`end_tasks`] has it): the leases that it ended, and the tasks' states.
///
/// Written once and compiled twice: one that stores results costs more, also where there is none.
macro_rules! end_for_good {
    ($tx:ident, $event:ident, ($($more:tt)*), $($argument:tt)*) => {{
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
            $($more)*
            answer: r#"select tenant_id as "tenant_id!", id as "id!", attempt as "attempt!", session_id as "session_id!",
                    ends as "ends!"
                from gone"#,
            $($argument)*
        );
        let rows = named($event.as_str(), query.fetch_all(&mut *$tx)).await?;
        rows.into_iter()
            .filter_map(|row| {
                let lease = LeaseKey {
                    tenant: TenantId(row.tenant_id),
                    task: TaskId(row.id),
                    attempt: row.attempt.unsigned_abs(),
                    session: SessionId(row.session_id),
                };
                Some((lease, row.ends.parse().ok()?))
            })
            .collect::<HashMap<LeaseKey, State>>()
    }};
}

/// Moves each row to where `event` leads from its state; a state the event does not leave keeps its lease.
pub(in super::super) async fn for_good(
    tx: &mut PgConnection,
    event: Event,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    let to = |from| next(from, event).map(State::as_str);
    let order = in_lock_order(ended);
    let rows: Vec<_> = order.iter().map(|at| EndedLease::of(&ended[*at], 0)).collect();
    let (running, cancelling) = (to(State::Running), to(State::Cancelling));
    let moved = if event == Event::Completed && ended.iter().any(|ended| ended.value.is_some()) {
        let results = Results::of(order.iter().map(|at| &ended[*at]));
        end_for_good!(
            tx, event, (results: "unnest($4::uuid[], $5::uuid[], $6::text[])",),
            &rows as &[EndedLease<'_>],
            running,
            cancelling,
            &results.tenants,
            &results.tasks,
            &results.values as &[&str]
        )
    } else {
        end_for_good!(tx, event, (), &rows as &[EndedLease<'_>], running, cancelling)
    };
    answers(tx, ended, moved).await
}

/// What tasks returned, column by column.
#[derive(Default)]
struct Results<'a> {
    tenants: Vec<Uuid>,
    tasks: Vec<Uuid>,
    values: Vec<&'a str>,
}

impl<'a> Results<'a> {
    fn of(ended: impl Iterator<Item = &'a EndedAttempt>) -> Self {
        let mut results = Self::default();
        for ended in ended {
            if let Some(value) = &ended.value {
                results.tenants.push(ended.lease.tenant.uuid());
                results.tasks.push(ended.lease.task.uuid());
                results.values.push(value.as_str());
            }
        }
        results
    }
}
