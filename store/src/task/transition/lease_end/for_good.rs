//! Ends leases of tasks that end with them: every row goes to history.

use super::EndedAttempt;
use super::row::{EndedLease, in_lock_order};
use super::what_stands::answers;
use crate::StoreError;
use crate::lease::LeaseKey;
use crate::statement::named;
use crate::task::transition::TransitionResult;
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::{Event, State, next};
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
    let query = sqlx::query!(
        r#"with gone as (
                delete from task t
                using unnest($1::lease_end[]) i
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.attempt = i.attempt and t.session_id = i.session_id
                    and case t.state when 'running' then $2::text when 'cancelling' then $3::text end is not null
                returning t.tenant_id, t.id, t.pool, t.tier, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
                    t.run_at, t.start_deadline, t.cap_ms, t.attempt, t.failures, t.max_attempts, t.expire_if_late,
                    t.at_most_once, t.unique_key, t.first_started_at, t.session_id, t.placed_at,
                    case t.state when 'running' then $2 else $3 end as ends,
                    i.outcome, i.charged, i.ran_ms, i.exit_code, i.signal, i.reason, i.stdout, i.stderr
            ), history as (
                insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                    run_at, start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, unique_key,
                    first_started_at, finished_at, reason, exit_code)
                select tenant_id, id, pool, ends::task_state, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                    run_at, start_deadline, cap_ms, attempt, failures + (outcome in ('failed', 'killed_cap', 'killed_resources'))::integer,
                    max_attempts, expire_if_late, at_most_once, unique_key,
                    first_started_at, greatest(now(), placed_at), reason, exit_code
                from gone
            ), ended as (
                insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib,
                    disk_mib, iops, ports, session_id, placed_at, ended_at, usage_ms, exit_code, signal, reason,
                    stdout_bytes, stderr_bytes)
                select tenant_id, id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                    session_id, placed_at, greatest(now(), placed_at),
                    case when charged then greatest(0, least(ran_ms,
                        (extract(epoch from now() - placed_at) * 1000)::bigint)) else 0 end,
                    exit_code, signal, reason, stdout, stderr
                from gone
            )
            select tenant_id as "tenant_id!", id as "id!", attempt as "attempt!", session_id as "session_id!", ends as "ends!"
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
