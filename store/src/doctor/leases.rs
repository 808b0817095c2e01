//! Leases and the sessions they are of.

use super::Check;
use super::tasks::task_id;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::id::SessionId;
use domain::time::millis;
use sqlx::PgConnection;

pub(super) const CHECKS: [Check; 5] = [
    Check::LeaseWithoutSession,
    Check::RunningPastEnd,
    Check::CancellingPastEnd,
    Check::AssignmentDoubled,
    Check::SessionsLapsed,
];

/// Costs what is leased, never the backlog.
pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let overdue = millis(options.overdue) as f64;
    let query = sqlx::query!(
        r#"with lease as materialized (
                select t.id, t.state, t.session_id, t.assignment, t.wake_at from task t
                where t.session_id is not null and t.wake_at is not null
            ), of_executor as (
                select l.* from lease l where l.session_id <> $2
            ), doubled as (
                select l.session_id, min(l.id::text) as example from of_executor l group by l.session_id, l.assignment having count(*) > 1
            )
            select
                (select count(*) from of_executor l where not exists (
                    select from executor_session s where s.id = l.session_id and s.ended_at is null)) as "orphans!",
                (select min(l.id::text) from of_executor l where not exists (
                    select from executor_session s where s.id = l.session_id and s.ended_at is null)) as orphan,
                (select count(*) from lease l where l.state = 'running' and l.wake_at < now() - $1 * interval '1 millisecond') as "running!",
                (select min(l.id::text) from lease l where l.state = 'running'
                    and l.wake_at < now() - $1 * interval '1 millisecond') as runs,
                (select count(*) from lease l where l.state = 'cancelling' and l.wake_at < now() - $1 * interval '1 millisecond')
                    as "cancelling!",
                (select min(l.id::text) from lease l where l.state = 'cancelling'
                    and l.wake_at < now() - $1 * interval '1 millisecond') as cancels,
                (select count(*) from doubled) as "doubled!", (select min(d.example) from doubled d) as double"#,
        overdue,
        SessionId::CALLED.uuid()
    );
    let row = patient("doctor.leases", query.fetch_optional(&mut *tx)).await.and_then(one)?;
    let task = |check, count, example: Option<String>| Finding {
        check,
        count,
        example: example.as_deref().map(task_id),
    };
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(s.executor_id || ' of pool ' || s.pool) as example from executor_session s
            where s.ended_at is null and s.expires_at < now() - $1 * interval '1 millisecond'"#,
        overdue
    );
    let lapsed = patient("doctor.sessions", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![
        task(Check::LeaseWithoutSession, row.orphans, row.orphan),
        task(Check::RunningPastEnd, row.running, row.runs),
        task(Check::CancellingPastEnd, row.cancelling, row.cancels),
        task(Check::AssignmentDoubled, row.doubled, row.double),
        Finding { check: Check::SessionsLapsed, count: lapsed.count, example: lapsed.example },
    ])
}
