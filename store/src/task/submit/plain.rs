//! Stores tasks that can conflict with nothing: no unique key, no idempotency key. One statement.

use super::columns::Columns;
use super::{Created, NewTask, SubmitAnswer};
use crate::StoreError;
use crate::statement::named;
use domain::task::State;
use sqlx::PgConnection;
use uuid::Uuid;

pub(super) async fn insert(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let c = Columns::of(tasks);
    let query = sqlx::query!(
        r#"with input as materialized (
                select i.*, now() as created_at, coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
                from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]::task_tier[], $5::integer[], $6::integer[], $7::integer[],
                    $8::integer[], $9::integer[], $10::integer[], $11::bigint[], $12::timestamptz[], $13::bigint[], $14::bigint[],
                    $15::integer[], $16::boolean[], $17::boolean[], $18::text[], $19::text[], $20::text[], $21::text[],
                    $22::text[], $23::text[], $24::smallint[], $25::boolean[], $26::text[], $27::bigint[], $28::uuid[]) with ordinality
                    as i(tenant_id, id, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, delay_ms, at,
                        tolerance_ms, cap_ms, max_attempts, expire_if_late, at_most_once, name, run, retry, labels, traceparent,
                        key_id, priority, flexible, concurrency_key, strand, schedule_id, place)
            ), spec as (
                insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms,
                    traceparent, key_id, priority, flexible, concurrency_key, schedule_id)
                select id, tenant_id, created_at, run_at, name, run, retry, labels::jsonb, tolerance_ms, traceparent, key_id,
                    priority, flexible, concurrency_key, schedule_id
                from input
            ), live as (
                insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand,
                    name_key, wake_at)
                select tenant_id, id, pool, (case when run_at <= created_at then 'ready' else 'scheduled' end)::task_state, tier,
                    cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    run_at + tolerance_ms * interval '1 millisecond', cap_ms, max_attempts, expire_if_late, at_most_once,
                    priority, flexible, concurrency_key, strand, coalesce(hashtextextended(name, 0), 0),
                    case when run_at > created_at then run_at
                        when expire_if_late then run_at + tolerance_ms * interval '1 millisecond' end
                from input
            )
            select created_at as "created_at!", run_at as "run_at!",
                run_at + tolerance_ms * interval '1 millisecond' as "start_deadline!"
            from input order by place"#,
        &c.tenants,
        &c.ids,
        &c.pools,
        &c.tiers as &[Option<String>],
        &c.resources[0],
        &c.resources[1],
        &c.resources[2],
        &c.resources[3],
        &c.resources[4],
        &c.slots,
        &c.delay_ms,
        &c.run_at as &[Option<domain::time::Timestamp>],
        &c.tolerance_ms,
        &c.cap_ms,
        &c.max_attempts,
        &c.expire_if_late,
        &c.at_most_once,
        &c.names as &[Option<String>],
        &c.runs,
        &c.retries as &[Option<String>],
        &c.labels as &[Option<String>],
        &c.traceparents as &[Option<String>],
        &c.key_ids,
        &c.priorities,
        &c.flexible,
        &c.concurrency_keys as &[Option<String>],
        &c.strands,
        &c.schedules as &[Option<Uuid>]
    );
    let rows = named("submit", query.fetch_all(tx)).await?;
    let created = rows.into_iter().map(|row| {
        let state = if row.run_at <= row.created_at { State::Ready } else { State::Scheduled };
        SubmitAnswer::Created(Created {
            created_at: row.created_at,
            run_at: row.run_at,
            start_deadline: row.start_deadline,
            state,
        })
    });
    Ok(created.collect())
}
