//! Stores tasks that can conflict with nothing: no unique key, no idempotency key. One statement.

use super::row::SubmittedTask;
use super::{Created, NewTask, SubmitAnswer};
use crate::StoreError;
use crate::statement::named;
use domain::task::State;
use sqlx::PgConnection;

pub(super) async fn insert(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let rows: Vec<SubmittedTask<'_>> = tasks.iter().map(SubmittedTask::from).collect();
    let query = sqlx::query!(
        r#"with input as materialized (
                select i.*, now() as created_at, coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
                from unnest($1::submission[]) with ordinality i
            ), spec as (
                insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms,
                    traceparent, key_id, priority, flexible, concurrency_key, schedule_id, due_at, schedule_name)
                select id, tenant_id, created_at, run_at, name, run, retry, labels::jsonb, tolerance_ms, traceparent, key_id,
                    priority, flexible, concurrency_key, schedule_id, due_at, schedule_name
                from input
            ), live as (
                insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand,
                    name_key, driver, wake_at)
                select tenant_id, id,
                    pool, (case when run_at <= created_at then 'ready' else 'scheduled' end)::task_state, tier::task_tier,
                    cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    run_at + tolerance_ms * interval '1 millisecond', cap_ms, max_attempts, expire_if_late, at_most_once,
                    priority, flexible, concurrency_key, strand, coalesce(hashtextextended(name, 0), 0), driver,
                    case when run_at > created_at then run_at
                        when expire_if_late then run_at + tolerance_ms * interval '1 millisecond' end
                from input
            )
            select created_at as "created_at!", run_at as "run_at!",
                run_at + tolerance_ms * interval '1 millisecond' as "start_deadline!"
            from input order by ordinality"#,
        &rows as &[SubmittedTask<'_>]
    );
    let rows = named("submit", query.fetch_all(tx)).await?;
    let created = rows.into_iter().map(|row| {
        let state = if row.run_at <= row.created_at { State::Ready } else { State::Scheduled };
        SubmitAnswer::Created(Created {
            created_at: row.created_at,
            run_at: row.run_at,
            start_deadline: row.start_deadline,
            state,
            waits: false,
        })
    });
    Ok(created.collect())
}
