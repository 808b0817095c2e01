//! Attempts, which are the bill, against the tasks they are of: all of what runs, and a sample of what ended in the last day.
//!
//! A sample is of whole pages, so that it costs the same whatever history holds.

use super::Check;
use super::tasks::task_id;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use sqlx::PgConnection;

pub(super) const CHECKS: [Check; 3] =
    [Check::LeasesOverlap, Check::AttemptsMissing, Check::TaskEndedTwice];
pub(super) const USAGE: [Check; 2] = [Check::UsageWrong, Check::AttemptWithoutTask];

/// Bytes of a row of history, about.
const ROW_BYTES: f64 = 200.0;

/// Which share of the pages of `parent`'s last days holds about `rows` rows; in percent.
pub(super) async fn percent(
    tx: &mut PgConnection,
    parent: &str,
    rows: u32,
) -> Result<f32, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select coalesce(sum(pg_relation_size(c.oid)), 0)::double precision as "bytes!"
            from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = ('public.' || $1)::regclass
                and (c.relname like '%\_default'
                    or right(c.relname, 8) >= to_char(now() at time zone 'UTC' - interval '1 day', 'YYYYMMDD'))"#,
        parent
    );
    let bytes = patient("doctor.size", query.fetch_optional(tx)).await.and_then(one)?;
    Ok((f64::from(rows) * ROW_BYTES / bytes.max(1.0) * 100.0).clamp(0.0001, 100.0) as f32)
}

/// The attempts of each task: numbered without gaps, one after the other; and one end.
pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let percent = percent(tx, "task_history", options.sample).await?;
    let query = sqlx::query!(
        r#"with ended as materialized (
                select h.tenant_id, h.id, h.attempt, h.finished_at,
                    least(coalesce(h.first_started_at, h.finished_at), berth_day_of(h.id)::timestamptz) as since
                from task_history h tablesample system ($1) where h.finished_at > now() - interval '1 day' limit $2
            ), tried as materialized (
                select e.tenant_id, e.id, e.attempt, e.finished_at, e.since, null::timestamptz as live from ended e where e.attempt > 0
                union all
                select * from (
                    select t.tenant_id, t.id, t.attempt - 1, now(), least(coalesce(t.first_started_at, now()), berth_day_of(t.id)::timestamptz),
                        t.placed_at
                    from task t where t.session_id is not null and t.wake_at is not null and t.attempt > 1 limit $2) l
            ), judged as (
                select r.id, a.rows = r.attempt and a.numbers = a.rows and coalesce(a.most, 0) = r.attempt as dense,
                    coalesce(a.overlaps, false) or coalesce(r.live < a.until, false) as overlaps
                from tried r cross join lateral (
                    select count(*) as rows, count(distinct o.attempt) as numbers, max(o.attempt) as most, bool_or(o.overlaps) as overlaps,
                        max(o.ended_at) as until
                    from (
                        select a.attempt, a.ended_at, a.placed_at < lag(a.ended_at) over (order by a.attempt, a.ended_at) as overlaps
                        from attempt a
                        where a.tenant_id = r.tenant_id and a.task_id = r.id
                            and a.ended_at >= r.since - interval '1 day' and a.ended_at <= r.finished_at + interval '1 hour') o
                ) a
            ), twice as (
                select e.id from ended e
                where (select true from task t where t.tenant_id = e.tenant_id and t.id = e.id limit 1) is true
                    or (select count(*) from task_history o where o.tenant_id = e.tenant_id and o.id = e.id
                        and o.finished_at > now() - interval '2 days') > 1
            )
            select (select count(*) from judged j where j.overlaps) as "overlaps!",
                (select min(j.id::text) from judged j where j.overlaps) as overlap,
                (select count(*) from judged j where not j.dense) as "gaps!", (select min(j.id::text) from judged j where not j.dense) as gap,
                (select count(*) from twice) as "twice!", (select min(w.id::text) from twice w) as ended"#,
        percent,
        i64::from(options.sample)
    );
    let row = patient("doctor.attempts", query.fetch_optional(tx)).await.and_then(one)?;
    let task = |check, count, example: Option<String>| Finding {
        check,
        count,
        example: example.as_deref().map(task_id),
    };
    Ok(vec![
        task(Check::LeasesOverlap, row.overlaps, row.overlap),
        task(Check::AttemptsMissing, row.gaps, row.gap),
        task(Check::TaskEndedTwice, row.twice, row.ended),
    ])
}

/// What each attempt costs, and that there is a task of it.
pub(super) async fn usage(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let percent = percent(tx, "attempt", options.sample).await?;
    let query = sqlx::query!(
        r#"with sample as materialized (
                select a.tenant_id, a.task_id, a.ended_at,
                    (not a.charged and a.usage_ms <> 0) or a.usage_ms > extract(epoch from a.ended_at - a.placed_at) * 1000 + 1
                        or a.charged = (a.outcome in ('lost', 'handed_back', 'not_started')) as wrong
                from attempt a tablesample system ($1) where a.ended_at > now() - interval '1 day' limit $2
            ), orphan as (
                select s.task_id from sample s
                where not exists (select from task t where t.tenant_id = s.tenant_id and t.id = s.task_id)
                    and not exists (select from task_history h where h.tenant_id = s.tenant_id and h.id = s.task_id
                        and h.finished_at >= s.ended_at - interval '1 hour')
                    and exists (select from tenant n where n.id = s.tenant_id and n.state <> 'deleted')
            )
            select (select count(*) from sample s where s.wrong) as "wrong!", (select min(s.task_id::text) from sample s where s.wrong) as of,
                (select count(*) from orphan) as "orphans!", (select min(o.task_id::text) from orphan o) as orphan"#,
        percent,
        i64::from(options.sample)
    );
    let row = patient("doctor.usage", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![
        Finding {
            check: Check::UsageWrong,
            count: row.wrong,
            example: row.of.as_deref().map(task_id),
        },
        Finding {
            check: Check::AttemptWithoutTask,
            count: row.orphans,
            example: row.orphan.as_deref().map(task_id),
        },
    ])
}
