//! Schedules against the clock, and fires against schedules and tasks.

use super::Check;
use super::attempts::percent;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::id::ScheduleId;
use domain::time::millis;
use sqlx::PgConnection;

pub(super) const SCHEDULES: [Check; 3] =
    [Check::ScheduleOverdue, Check::ScheduleWithoutDue, Check::SchedulesMalformed];
pub(super) const FIRES: [Check; 3] = [Check::FireWithoutTask, Check::FireDoubled, Check::FireEarly];

/// Schedules that stand still.
pub(super) async fn schedules(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let overdue = millis(options.overdue) as f64;
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(s.id::text) as example
            from schedule_shard h cross join lateral (
                select n.id from schedule n
                where n.shard = h.shard and n.fire_at < now() - $1 * interval '1 millisecond'
                order by n.fire_at limit 10000) s"#,
        overdue
    );
    let late =
        patient("doctor.schedule_overdue", query.fetch_optional(&mut *tx)).await.and_then(one)?;
    let query = sqlx::query!(
        r#"with still as materialized (
                select s.id, s.tenant_id, s.awaits, coalesce(s.paused_because like 'malformed%', false) as malformed
                from schedule s where s.due_at is null and s.ended_at is null
            ), without as (
                select s.id from still s
                where not s.malformed and (s.awaits is null
                    or not exists (select from task t where t.tenant_id = s.tenant_id and t.id = s.awaits)
                        and not exists (select from task_history h where h.tenant_id = s.tenant_id and h.id = s.awaits
                            and h.finished_at >= now() - $1 * interval '1 millisecond')
                        and not exists (select from workflow_run r where r.tenant_id = s.tenant_id and r.id = s.awaits
                            and (r.finished_at is null or r.finished_at >= now() - $1 * interval '1 millisecond')))
            )
            select (select count(*) from without) as "without!", (select min(w.id::text) from without w) as example,
                (select count(*) from still s where s.malformed) as "malformed!",
                (select min(s.id::text) from still s where s.malformed) as broken"#,
        overdue
    );
    let row =
        patient("doctor.schedule_without_due", query.fetch_optional(tx)).await.and_then(one)?;
    let found = |check, count, example: Option<String>| Finding {
        check,
        count,
        example: example.as_deref().map(schedule_id),
    };
    Ok(vec![
        found(Check::ScheduleOverdue, late.count, late.example),
        found(Check::ScheduleWithoutDue, row.without, row.example),
        found(Check::SchedulesMalformed, row.malformed, row.broken),
    ])
}

/// The ledger of the last day: a sample.
pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let percent = percent(tx, "schedule_fire", options.sample).await?;
    let query = sqlx::query!(
        r#"with sample as materialized (
                select f.tenant_id, f.schedule_id, f.due_at, f.fired_at, f.task_id, f.run_id, f.kind
                from schedule_fire f tablesample system ($1) where f.due_at > now() - interval '1 day' limit $2
            ), lost as (
                select s.schedule_id from sample s
                where s.task_id is not null
                    and not exists (select from task t where t.tenant_id = s.tenant_id and t.id = s.task_id)
                    and not exists (select from task_history h where h.tenant_id = s.tenant_id and h.id = s.task_id
                        and h.finished_at >= s.fired_at - interval '1 hour')
                    and exists (select from tenant n where n.id = s.tenant_id and n.state <> 'deleted')
                union all
                select s.schedule_id from sample s
                where s.run_id is not null
                    and not exists (select from workflow_run r where r.tenant_id = s.tenant_id and r.id = s.run_id)
                    and exists (select from tenant n where n.id = s.tenant_id and n.state <> 'deleted')
            ), doubled as (
                select s.schedule_id from sample s
                where (select count(*) from schedule_fire o where o.tenant_id = s.tenant_id and o.schedule_id = s.schedule_id
                    and o.due_at = s.due_at) > 1
            ), early as (
                select s.schedule_id from sample s where s.kind = 'scheduled' and s.fired_at < s.due_at
            )
            select (select count(*) from lost) as "lost!", (select min(l.schedule_id::text) from lost l) as of_lost,
                (select count(*) from doubled) as "doubled!", (select min(d.schedule_id::text) from doubled d) as of_doubled,
                (select count(*) from early) as "early!", (select min(e.schedule_id::text) from early e) as of_early"#,
        percent,
        i64::from(options.sample)
    );
    let row = patient("doctor.fires", query.fetch_optional(tx)).await.and_then(one)?;
    let found = |check, count, example: Option<String>| Finding {
        check,
        count,
        example: example.as_deref().map(schedule_id),
    };
    Ok(vec![
        found(Check::FireWithoutTask, row.lost, row.of_lost),
        found(Check::FireDoubled, row.doubled, row.of_doubled),
        found(Check::FireEarly, row.early, row.of_early),
    ])
}

fn schedule_id(uuid: &str) -> String {
    uuid.parse::<uuid::Uuid>().map_or_else(|_| uuid.to_owned(), |id| ScheduleId(id).to_string())
}
