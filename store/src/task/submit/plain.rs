//! Stores tasks that can conflict with nothing: no unique key, no idempotency key. One statement.

use super::row::SubmittedTask;
use super::{Created, NewTask, SubmitAnswer};
use crate::StoreError;
use crate::spend::{Accepting, Demand, Terms};
use crate::statement::named;
use domain::id::TenantId;
use domain::price::Reservation;
use domain::task::State;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

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
    tasks: &[&NewTask],
) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
    let rows: Vec<SubmittedTask<'_>> =
        tasks.iter().map(|task| SubmittedTask::from(*task)).collect();
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
    placed(&rows, tasks.len())
}

/// Stores those of tenants that have no spend cap, and those whose reservations fit: what they take is of one share of each cap. `known` is
/// what `tasks` reserve by; the others get no answer: what holds is not what was known, or a share has too little.
pub(super) async fn insert_known(
    tx: &mut PgConnection,
    tasks: &[NewTask],
    known: &Accepting,
) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
    let rows: Vec<SubmittedTask<'_>> = tasks.iter().map(SubmittedTask::from).collect();
    let reservations: Vec<_> = tasks.iter().map(NewTask::reservation_json).collect();
    let of = |(tenant, terms): (TenantId, &Terms)| {
        (tenant.uuid(), terms.caps.clone(), terms.book.clone())
    };
    let (tenants, caps, books): (Vec<_>, Vec<_>, Vec<_>) = known.terms().map(of).collect();
    let taken = demands(tasks);
    let (takers, of_caps, amounts): (Vec<_>, Vec<_>, Vec<_>) = taken.into_iter().collect();
    let query = store_plain!(
        input: "with share as materialized (
                select d.tenant_id, s.cap_id, s.share, d.amount, c.period_start,
                    not s.closed and s.free + case when s.period_start < c.period_start then s.spent else 0 end >= d.amount as has_room
                from unnest($3::uuid[], $4::uuid[], $5::bigint[]) d(tenant_id, cap_id, amount)
                join lateral (select p.id, date_trunc(p.period, now(), p.zone) as period_start from spend_cap p
                    where p.id = d.cap_id) c on true
                join spend_share s on s.cap_id = d.cap_id and s.share = pg_backend_pid() % 8
                order by s.cap_id for no key update of s
            ), accepting as materialized (
                select k.tenant_id
                from unnest($6::uuid[], $7::text[], $8::text[]) k(tenant_id, caps, book)
                where (select count(*) from share s where s.tenant_id = k.tenant_id and s.has_room)
                        = (select count(*) from unnest($3::uuid[]) d(tenant_id) where d.tenant_id = k.tenant_id)
                    and k.caps = (select string_agg(c.id || ',', '' order by c.id) from spend_cap c
                        where c.tenant_id = k.tenant_id)
                    and k.book = (select coalesce(b.name || ' ' || b.version, '') from tenant t join plan p on p.name = t.plan
                        left join price_book b on b.name = p.price_book where t.id = k.tenant_id)
            ), taken as (
                update spend_share s set period_start = greatest(s.period_start, i.period_start),
                    spent = case when s.period_start < i.period_start then 0 else s.spent end,
                    free = s.free - i.amount + case when s.period_start < i.period_start then s.spent else 0 end
                from share i
                where s.cap_id = i.cap_id and s.share = i.share and i.tenant_id in (select a.tenant_id from accepting a)
            ), input as materialized (
                select i.*, i.unnest::jsonb as reservation, now() as created_at,
                    coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
                from unnest($1::submission[], $2::text[]) with ordinality i
                where case when i.unnest is null then not exists (select from spend_cap c where c.tenant_id = i.tenant_id)
                    else i.tenant_id in (select a.tenant_id from accepting a) end
            )",
        column: ", reservation",
        value: ", reservation",
        &rows as &[SubmittedTask<'_>],
        &reservations as &[Option<String>],
        &takers,
        &of_caps,
        &amounts,
        &tenants,
        &caps,
        &books
    );
    let rows = named("submit_known", query.fetch_all(tx)).await?;
    placed(&rows, tasks.len())
}

/// What is taken of each tenant's caps.
fn demands(tasks: &[NewTask]) -> Vec<(Uuid, Uuid, i64)> {
    let mut demands: BTreeMap<TenantId, Vec<&Reservation>> = BTreeMap::new();
    for task in tasks {
        demands.entry(task.tenant).or_default().extend(&task.reservation);
    }
    let of_tenant = |(tenant, of): (TenantId, Vec<&Reservation>)| {
        let caps = Demand::of(of.into_iter()).into_caps();
        caps.map(move |(cap, amount)| (tenant.uuid(), cap, amount))
    };
    demands.into_iter().flat_map(of_tenant).collect()
}

/// The answer of each task that was stored.
fn placed(rows: &[StoredTask], tasks: usize) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
    let mut answers = vec![None; tasks];
    for row in rows {
        let place = usize::try_from(row.place - 1).ok().and_then(|place| answers.get_mut(place));
        *place.ok_or(StoreError::Contended)? = Some(created(row));
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
