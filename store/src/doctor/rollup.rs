//! The roll-up of usage against the attempts that it is of, at prices that are computed here anew, in the database's own numbers.
//!
//! Today's usage of tenants picked at random, which had few enough attempts that the check costs the same whatever others had.

use super::{Check, DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::id::TenantId;
use sqlx::PgConnection;

pub(super) const CHECKS: [Check; 1] = [Check::UsageCountedWrong];

pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"with counted as materialized (
                select c.txid, date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as day
                from event_cursor c where c.consumer = 'usage' and c.seq = -1
            ), picked as materialized (
                select s.tenant_id, s.day, s.txid from (
                    select r.id as tenant_id, c.day, c.txid, sum(u.attempts) over (order by r.place) as attempts
                    from (select t.id, random() as place from tenant t where t.state <> 'deleted' order by 2 limit 200) r
                    cross join counted c
                    cross join lateral (select coalesce(sum(o.attempts), 0) as attempts from usage_rollup o
                        where o.tenant_id = r.id and o.kind = 'tier' and o.starts_at >= c.day) u
                    where u.attempts <= $1::bigint) s
                where s.attempts <= $1::bigint
            ), ended as (
                select a.tenant_id, to_timestamp(floor(extract(epoch from a.ended_at) / 900) * 900) as starts_at,
                    coalesce(a.tier::text, '') as tier, a.attempt, a.charged, a.usage_ms::numeric as ms, a.cost, a.task_cost, a.fire_cost, coalesce(s.schedule_id is not null and s.rerun_of is null and (s.run_id is null or w.fire_task = a.task_id), false) as is_fired,
                    coalesce(case when a.cost is null then f.book else a.price_book end, '') as book, f.prices, coalesce(f.prices -> 'tiers' -> a.tier::text, f.prices -> 'rates', '{}') as rates,
                    array[a.cpu_millis, a.memory_mib, a.disk_mib, a.iops, a.ports]::numeric[] as held,
                    coalesce(a.tolerance_ms, s.delay_tolerance_ms, 0) / 1000 as tolerance_s, coalesce(a.flexible, false) as flexible
                from picked p
                join attempt a on a.tenant_id = p.tenant_id and a.ended_at >= p.day and (a.txid is null or a.txid < p.txid)
                left join lateral (select o.delay_tolerance_ms, o.schedule_id, o.run_id, o.rerun_of from task_spec o
                    where o.id = a.task_id and o.tenant_id = a.tenant_id limit 1) s on true
                left join lateral (select o.fire_task from workflow_run o where o.tenant_id = a.tenant_id and o.id = s.run_id limit 1) w on s.run_id is not null
                left join lateral (
                    select b.price_book as book, e.prices
                    from (select o.plan from tenant_plan o where o.tenant_id = a.tenant_id and o.since <= a.placed_at
                        order by o.since desc limit 1) t
                    cross join lateral (select o.price_book from plan_billing o where o.plan = t.plan and o.since <= a.placed_at
                        order by o.since desc limit 1) b
                    join price_book k on k.name = b.price_book
                    cross join lateral (select d.prices from jsonb_array_elements(k.document -> 'prices') d(prices)
                        where (d.prices ->> 'effective_from')::timestamptz <= a.placed_at
                        order by (d.prices ->> 'effective_from')::timestamptz desc limit 1) e) f on true
            ), priced as (
                select e.*, (coalesce((e.rates ->> 'cpu_core')::numeric, 0) * e.held[1] * 128
                        + coalesce((e.rates ->> 'memory_gib')::numeric, 0) * e.held[2] * 125
                        + coalesce((e.rates ->> 'disk_gib')::numeric, 0) * e.held[3] * 125
                        + coalesce((e.rates ->> 'thousand_iops')::numeric, 0) * e.held[4] * 128
                        + coalesce((e.rates ->> 'port')::numeric, 0) * e.held[5] * 128000) * e.ms
                    * (100 - coalesce((select max(d.row_number * 1000 + (d.band ->> 'percent')::integer) % 1000
                            from (select b.band, row_number() over () from jsonb_array_elements(e.prices -> 'discounts' -> 'tolerance') b(band)) d
                            where (d.band ->> 'at_least_s')::bigint <= e.tolerance_s), 0))
                    * (100 - case when e.flexible then coalesce((e.prices -> 'discounts' ->> 'flexible_percent')::integer, 0) else 0 end)
                    as numerator, 128000::numeric * 3600000 * 10000 as denominator
                from ended e
            ), summed as (
                select o.tenant_id, o.starts_at, o.tier, o.book, count(*) as attempts, count(*) filter (where o.charged) as charged,
                    count(*) filter (where o.attempt = 1) as tasks, sum(o.ms) as ms, sum(o.ms * o.held[1]) as cpu, sum(o.ms * o.held[2]) as memory,
                    -- Half to even.
                    sum(coalesce(o.cost, div(o.numerator, o.denominator) + case
                        when mod(o.numerator, o.denominator) * 2 > o.denominator
                            or (mod(o.numerator, o.denominator) * 2 = o.denominator and mod(div(o.numerator, o.denominator), 2) = 1)
                        then 1 else 0 end)) as cost,
                    sum(case when o.cost is not null then o.task_cost - coalesce(o.fire_cost, 0) when o.attempt = 1 then coalesce((o.prices -> 'each' ->> 'task')::numeric, 0) else 0 end) as tasks_cost,
                    count(*) filter (where o.attempt = 1 and o.is_fired) as fires,
                    sum(case when o.cost is not null then coalesce(o.fire_cost, 0)
                        when o.attempt = 1 and o.is_fired then coalesce((o.prices -> 'each' ->> 'fire')::numeric, 0) else 0 end) as fires_cost
                from priced o group by 1, 2, 3, 4
            ), stored as (
                select u.tenant_id, u.starts_at, u.value as tier, u.price_book as book, u.attempts, u.charged_attempts as charged, u.tasks,
                    u.run_ms as ms, u.cpu_millis_ms as cpu, u.memory_mib_ms as memory, u.attempts_cost as cost, u.tasks_cost, u.fires, u.fires_cost
                from picked p join usage_rollup u on u.tenant_id = p.tenant_id and u.kind = 'tier' and u.starts_at >= p.day and u.attempts > 0
            ), wrong as (
                select coalesce(s.tenant_id, r.tenant_id) as tenant_id from summed s
                full join stored r using (tenant_id, starts_at, tier, book)
                where (s.attempts, s.charged, s.tasks, s.ms, s.cpu, s.memory, s.cost, s.tasks_cost, s.fires, s.fires_cost)
                    is distinct from (r.attempts, r.charged, r.tasks, r.ms, r.cpu, r.memory, r.cost, r.tasks_cost, r.fires, r.fires_cost)
            )
            select (select count(*) from wrong) as "wrong!", (select w.tenant_id from wrong w order by 1 limit 1) as example"#,
        i64::from(options.sample)
    );
    let row = patient("doctor.rollup", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![Finding {
        check: Check::UsageCountedWrong,
        count: row.wrong,
        example: row.example.map(|tenant| TenantId(tenant).to_string()),
    }])
}
