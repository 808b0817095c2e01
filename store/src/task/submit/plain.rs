//! Stores tasks that can conflict with nothing: no unique key, no idempotency key. One statement.

use super::row::SubmittedTask;
use super::{Created, NewTask, SubmitAnswer};
use crate::StoreError;
use crate::statement::named;
use domain::task::State;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// A checked query that begins with `$input`, which reads the tasks, and stores them. `$column` and `$value` are more of `task`.
macro_rules! store_plain {
    (input: $input:literal, column: $column:literal, value: $value:literal, $($argument:tt)*) => {
        sqlx::query_as!(
            StoredTask,
            $input
            + ", spec as (
                insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms,
                    traceparent, key_id, priority, flexible, concurrency_key, schedule_id, due_at, schedule_name)
                select id, tenant_id, created_at, run_at, name, run, retry, labels::jsonb, tolerance_ms, traceparent, key_id,
                    priority, flexible, concurrency_key, schedule_id, due_at, schedule_name
                from input
            ), live as (
                insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand,
                    name_key, driver, wake_at" + $column + ")
                select tenant_id, id,
                    pool, (case when run_at <= created_at then 'ready' else 'scheduled' end)::task_state, tier::task_tier,
                    cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    run_at + tolerance_ms * interval '1 millisecond', cap_ms, max_attempts, expire_if_late, at_most_once,
                    priority, flexible, concurrency_key, strand, coalesce(hashtextextended(name, 0), 0), driver,
                    case when run_at > created_at then run_at
                        when expire_if_late then run_at + tolerance_ms * interval '1 millisecond' end" + $value + "
                from input
            )"
            + r#"select ordinality as "place!", created_at as "created_at!", run_at as "run_at!",
                run_at + tolerance_ms * interval '1 millisecond' as "start_deadline!"
            from input order by ordinality"#,
            $($argument)*
        )
    };
}

struct StoredTask {
    place: i64,
    created_at: Timestamp,
    run_at: Timestamp,
    start_deadline: Timestamp,
}

impl crate::statement::RowCount for StoredTask {
    fn rows(&self) -> u64 {
        1
    }
}

/// Stores those of tenants that have no spend cap; the others get no answer.
pub(super) async fn insert(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
    let rows: Vec<SubmittedTask<'_>> = tasks.iter().map(SubmittedTask::from).collect();
    let query = store_plain!(
        input: "with input as materialized (
                select i.*, now() as created_at, coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
                from unnest($1::submission[]) with ordinality i
                where not exists (select from spend_cap c where c.tenant_id = i.tenant_id)
            )",
        column: "",
        value: "",
        &rows as &[SubmittedTask<'_>]
    );
    let rows = named("submit", query.fetch_all(tx)).await?;
    let mut answers = vec![None; tasks.len()];
    for row in rows {
        let place = usize::try_from(row.place - 1).ok().and_then(|place| answers.get_mut(place));
        *place.ok_or(StoreError::Contended)? = Some(created(&row));
    }
    Ok(answers)
}

/// Stores all, with what they reserve.
pub(super) async fn insert_reserved(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let rows: Vec<SubmittedTask<'_>> = tasks.iter().map(SubmittedTask::from).collect();
    let reservations: Vec<_> = tasks.iter().map(NewTask::reservation_json).collect();
    let query = store_plain!(
        input: "with input as materialized (
                select i.*, i.unnest::jsonb as reservation, now() as created_at,
                    coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
                from unnest($1::submission[], $2::text[]) with ordinality i
            )",
        column: ", reservation",
        value: ", reservation",
        &rows as &[SubmittedTask<'_>],
        &reservations as &[Option<String>]
    );
    let rows = named("submit_reserved", query.fetch_all(tx)).await?;
    Ok(rows.iter().map(created).collect())
}

fn created(row: &StoredTask) -> SubmitAnswer {
    let state = if row.run_at <= row.created_at { State::Ready } else { State::Scheduled };
    SubmitAnswer::Created(Created {
        created_at: row.created_at,
        run_at: row.run_at,
        start_deadline: row.start_deadline,
        state,
        waits: false,
    })
}
