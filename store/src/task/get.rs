//! Reads one task.

use super::record::{TaskRecord, TaskRow};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use sqlx::PgConnection;

/// The task, live or ended; `None` where this tenant has none of that id.
///
/// Looks among the live first and then in history: a task only ever moves that way.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    id: TaskId,
) -> Result<Option<TaskRecord>, StoreError> {
    let mut tx = super::scoped_read(db, scope).await?;
    get_in(&mut tx, scope, id).await
}

/// The same in a transaction.
pub(super) async fn get_in(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: TaskId,
) -> Result<Option<TaskRecord>, StoreError> {
    let live = sqlx::query_as!(
        TaskRow,
        r#"select t.tenant_id, t.id, s.name, t.pool, t.tier::text, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
                t.state::text as "state!", coalesce(s.run, '') as "run!", s.retry, s.labels::text,
                s.created_at as "created_at!", t.run_at, t.start_deadline, t.cap_ms, t.expire_if_late, coalesce(s.priority, 0::smallint) as "priority!",
                coalesce(s.flexible, false) as "flexible!", s.concurrency_key, t.at_most_once, t.max_attempts,
                t.attempt, t.failures, t.unique_key, t.first_started_at,
                null::timestamptz as finished_at, null::text as reason, null::integer as exit_code, e.executor_id as "executor?", s.traceparent, s.schedule_id, s.rerun_of, s.depends_on, s.run_id, s.node,
                s.schedule_name, coalesce(s.due_at, s.run_at) as "due_at!", s.version as "version!",
                (t.reservation ->> 'amount')::bigint as reserved, t.spent, t.reservation ->> 'book' as reserved_book,
                -- Not read where nothing is reserved.
                case when t.reservation is not null then (select k.document ->> 'currency' from price_book k
                    where k.name = t.reservation ->> 'book') end as reserved_currency,
                case when t.reservation is not null then (select array_agg(p.name order by p.name) from spend_cap p
                    where p.tenant_id = $1 and t.reservation -> 'caps' ? p.id::text) end as reserved_caps
            from task t
            cross join lateral (select f.* from task_spec f where f.id = $2 limit 1) s
            left join lateral (select x.executor_id from executor_session x where x.id = coalesce((t.called).session, t.session_id) limit 1) e on true
            where t.tenant_id = $1 and t.id = $2"#,
        scope.tenant().uuid(),
        id.uuid()
    );
    if let Some(row) = named("task.get_live", live.fetch_optional(&mut *tx)).await? {
        return row.try_into().map(Some);
    }
    let ended = sqlx::query_as!(
        TaskRow,
        r#"select t.tenant_id, t.id, s.name, t.pool, t.tier::text, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
                t.state::text as "state!", coalesce(s.run, '') as "run!", s.retry, s.labels::text,
                s.created_at as "created_at!", t.run_at, t.start_deadline, t.cap_ms, t.expire_if_late, coalesce(s.priority, 0::smallint) as "priority!",
                coalesce(s.flexible, false) as "flexible!", s.concurrency_key, t.at_most_once, t.max_attempts,
                t.attempt, t.failures, t.unique_key, t.first_started_at,
                t.finished_at as "finished_at?", t.reason, t.exit_code, null::text as executor, s.traceparent, s.schedule_id, s.rerun_of, s.depends_on, s.run_id, s.node,
                s.schedule_name, coalesce(s.due_at, s.run_at) as "due_at!", s.version as "version!",
                null::bigint as reserved, null::bigint as spent, null::text as reserved_book, null::text as reserved_currency,
                null::text[] as reserved_caps
            from task_history t
            cross join lateral (select f.* from task_spec f where f.id = $2 limit 1) s
            where t.tenant_id = $1 and t.id = $2 limit 1"#,
        scope.tenant().uuid(),
        id.uuid()
    );
    let row = named("task.get_ended", ended.fetch_optional(tx)).await?;
    row.map(TryInto::try_into).transpose()
}
