//! Ends leases of tasks that go on: `running` moves on, `cancelling` ends.
//!
//! The rows are locked first, in order: which of the two ways each goes is decided by what stands then, not by what stood
//! when the statement began. A cancel that comes in between is so never overlooked.

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

/// Moves each running row to where `event` leads, due after its `delay_ms` (0 where left out), and ends each that is cancelling.
pub(in super::super) async fn to_go_on(
    tx: &mut PgConnection,
    event: Event,
    ended: &[EndedAttempt],
    delay_ms: &[i64],
) -> Result<Vec<TransitionResult>, StoreError> {
    let to = |from| next(from, event).map(State::as_str);
    let order = in_lock_order(ended);
    let delay = |at: usize| delay_ms.get(at).copied().unwrap_or(0);
    let rows: Vec<_> = order.iter().map(|at| EndedLease::of(&ended[*at], delay(*at))).collect();
    let query = end_tasks!(
        of leased: "with lease as materialized (
                select t.*, i.outcome, i.charged, i.ran_ms, i.exit_code, i.signal, i.reason, i.stdout, i.stderr, i.delay_ms,
                    -- What never started has not had its first start yet.
                    case when i.outcome <> 'not_started' or t.first_started_at <> t.placed_at then t.first_started_at end as started_at,
                    case t.state when 'running' then $2::text when 'cancelling' then $3::text end as goes
                from unnest($1::lease_end[]) i
                cross join lateral (
                    select l.* from task l
                    where l.tenant_id = i.tenant_id and l.id = i.id and l.attempt = i.attempt and l.session_id = i.session_id
                    limit 1 for update
                ) t
            ), moved as (
                update task t set
                    state = l.goes::task_state,
                    failures = t.failures + l.charged::integer,
                    spent = case when t.reservation is not null then coalesce(t.spent, 0)
                        + public.berth_reserved_now(t.reservation, t.placed_at, t.attempt,
                            public.berth_used_ms(l.charged, coalesce((t.called).ran_ms, l.ran_ms), t.cap_ms, t.placed_at)) end,
                    -- What came back keeps its place: only its next turn comes later.
                    run_at = case when l.goes = 'retrying' and not $4 then now() + l.delay_ms * interval '1 millisecond' else t.run_at end,
                    start_deadline = case when l.goes = 'retrying' and not $4
                        then now() + l.delay_ms * interval '1 millisecond' + (t.start_deadline - t.run_at) else t.start_deadline end,
                    first_started_at = l.started_at,
                    wake_at = case when l.goes = 'retrying' then now() + l.delay_ms * interval '1 millisecond'
                        when t.expire_if_late and l.started_at is null then t.start_deadline end,
                    session_id = null, assignment = null, placed_at = null, port_first = null, called = null
                from lease l
                where t.tenant_id = any (array[l.tenant_id]) and t.id = l.id and l.state = 'running'
                returning t.tenant_id, t.id, t.attempt, t.state
            ), deleted as (
                delete from task t using lease l
                where t.tenant_id = any (array[l.tenant_id]) and t.id = l.id and l.state = 'cancelling'
            ), gone as (
                select l.*, l.goes as ends from lease l where l.state = 'cancelling'
            )",
        failures: "failures + charged::integer",
        started: "started_at",
        leases: "lease",
        moved: "moved",
        answer: r#"select tenant_id as "tenant_id!", id as "id!", attempt as "attempt!", session_id as "session_id!",
                goes as "goes!", state = 'cancelling' and children is not null as "is_parent!"
            from lease"#,
        &rows as &[EndedLease<'_>],
        to(State::Running),
        to(State::Cancelling),
        event == Event::ReturnedAgain
    );
    let mut moved = HashMap::with_capacity(order.len());
    for row in named(event.as_str(), query.fetch_all(&mut *tx)).await? {
        let lease = LeaseKey {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            attempt: row.attempt.unsigned_abs(),
            session: SessionId(row.session_id),
        };
        if let Ok(state) = row.goes.parse() {
            moved.insert(lease, TransitionResult::applied(state, row.is_parent));
        }
    }
    answers(tx, ended, moved).await
}
