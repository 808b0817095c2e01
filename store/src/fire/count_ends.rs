//! How the tasks of schedules end that pause when too many fail one after the other.
//!
//! Such a task names its schedule (`task.counted_by`), so that the statement that ends it also writes an event for that schedule. The
//! scheduler that counts moves the cursor of the consumer `schedules` in the same transaction: each end counts once, however many
//! schedulers run. The pause is stored under the lock that a fire takes: no due time after it makes a task.

use super::Due;
use crate::StoreError;
use crate::audit::{self, Act, AuditAction};
use crate::connect::SchedulerDb;
use crate::event::Cursor;
use crate::schedule::read_text;
use crate::statement::{named, repeated};
use domain::audit::By;
use domain::id::{ScheduleId, TaskId, TenantId};
use domain::schedule::{FailureStreak, Made};
use domain::task::State;
use serde_json::json;
use sqlx::PgConnection;
use std::collections::BTreeMap;

/// Its row in `event_cursor`.
pub(super) const CONSUMER: &str = "schedules";

/// What one transaction counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedEnds {
    /// Ends of tasks, or of runs.
    pub ends: usize,
    /// Schedules that were paused for them.
    pub paused: Vec<PausedForFailures>,
}

/// A schedule that was paused because its tasks failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedForFailures {
    /// Which schedule.
    pub schedule: ScheduleId,
    /// The tenant.
    pub tenant: TenantId,
    /// What its owner calls it.
    pub name: String,
    /// How many in a row.
    pub failures: u32,
    /// The last of them.
    pub last: Made,
}

/// How a task or a run of a schedule ended.
pub(super) struct End {
    /// In which order.
    pub seq: i64,
    pub made: Made,
    pub state: State,
}

/// Has the ends of the tasks that these due times have made counted.
pub(super) async fn count_ends_of(
    tx: &mut PgConnection,
    made: &[(Due, TaskId)],
) -> Result<(), StoreError> {
    if made.is_empty() {
        return Ok(());
    }
    let query = sqlx::query!(
        "update task t set counted_by = i.schedule_id
            from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as i(tenant_id, id, schedule_id)
            where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id",
        &made.iter().map(|(due, _)| due.tenant.uuid()).collect::<Vec<_>>(),
        &made.iter().map(|(_, task)| task.uuid()).collect::<Vec<_>>(),
        &made.iter().map(|(due, _)| due.schedule.uuid()).collect::<Vec<_>>()
    );
    named("fire.count_ends_of", query.execute(tx)).await.map(|_| ())
}

/// Counts the next ends of schedules' tasks, at most `limit`, each once; nothing while another scheduler counts.
///
/// # Errors
/// When the database cannot answer. Repeating it counts nothing twice.
pub async fn count_ends(db: &SchedulerDb, limit: i64) -> Result<CountedEnds, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let mut counted = CountedEnds::default();
        if Cursor::lock(&mut tx, CONSUMER).await?.is_none() {
            return Ok(counted);
        }
        let Some((of_schedule, last)) = next_ends(&mut tx, limit).await? else {
            return Ok(counted);
        };
        // By their ids, as who fires several locks them.
        for (schedule, mut ends) in of_schedule {
            counted.ends += ends.len();
            ends.sort_unstable_by_key(|end| end.seq);
            if let Some(found) = lock(&mut tx, schedule).await? {
                counted.paused.extend(found.count(&mut tx, &ends).await?);
            }
        }
        last.store(&mut tx, CONSUMER).await?;
        named("commit", tx.commit()).await?;
        Ok(counted)
    })
    .await
}

/// The next ends, by schedule, and the place of the last of them; `None` where there are none.
async fn next_ends(
    tx: &mut PgConnection,
    limit: i64,
) -> Result<Option<(BTreeMap<ScheduleId, Vec<End>>, Cursor)>, StoreError> {
    let query = sqlx::query!(
        r#"select e.txid as "txid!", e.seq as "seq!", e.schedule_id as "schedule!", e.task_id as "task!", e.state::text as "state!"
            from event_cursor c
            cross join lateral (
                select n.txid, n.seq, n.schedule_id, n.task_id, n.state from task_event n
                where n.schedule_id is not null and (n.txid, n.seq) > (c.txid, c.seq)
                    and n.txid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                    and n.at > c.at - interval '1 day'
                order by n.txid, n.seq limit $2) e
            where c.consumer = $1
            order by e.txid, e.seq"#,
        CONSUMER,
        limit
    );
    let mut ends = BTreeMap::<_, Vec<_>>::new();
    let mut last = None;
    for row in named("fire.next_ends", query.fetch_all(tx)).await? {
        let schedule = ScheduleId(row.schedule);
        let state = read_text("state", schedule, &row.state)?;
        ends.entry(schedule).or_default().push(End {
            seq: row.seq,
            made: Made::Task(TaskId(row.task)),
            state,
        });
        last = Some(Cursor { txid: row.txid, seq: row.seq });
    }
    Ok(last.map(|last| (ends, last)))
}

/// A schedule whose tasks and runs are counted.
pub(super) struct LockedSchedule {
    id: ScheduleId,
    tenant: TenantId,
    name: String,
    streak: FailureStreak,
    before: u32,
    paused: bool,
}

pub(super) async fn lock(
    tx: &mut PgConnection,
    id: ScheduleId,
) -> Result<Option<LockedSchedule>, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, name, pause_after_failures, failures_in_row, paused_at is not null as "paused!" from schedule
            where id = $1 and deleted_at is null for no key update"#,
        id.uuid()
    );
    let row = named("fire.lock_streak", query.fetch_all(tx)).await?.pop();
    Ok(row.map(|row| {
        let before = row.failures_in_row.unsigned_abs();
        let pause_after = row.pause_after_failures.map(i32::unsigned_abs);
        LockedSchedule {
            id,
            tenant: TenantId(row.tenant_id),
            name: row.name,
            streak: FailureStreak { failures: before, pause_after },
            before,
            paused: row.paused,
        }
    }))
}

impl LockedSchedule {
    pub(super) async fn count(
        mut self,
        tx: &mut PgConnection,
        ends: &[End],
    ) -> Result<Option<PausedForFailures>, StoreError> {
        let mut reached = None;
        for End { made, state, .. } in ends {
            if self.streak.ended(*state) && reached.is_none() {
                reached = Some((*made, *state, self.streak.failures));
            }
        }
        let Some((last, state, failures)) = reached.filter(|_| !self.paused) else {
            self.store(tx).await?;
            return Ok(None);
        };
        let (kinds, kind, id) = match last {
            Made::Task(id) => ("tasks", "task", id.to_string()),
            Made::Run(id) => ("runs", "workflow_run", id.to_string()),
        };
        let because = format!(
            "{failures} {kinds} in a row did not succeed; the last, `{id}`, ended `{state}`"
        );
        // As every edit: what had come before and has no row is judged by the version before.
        let query = sqlx::query!(
            "with edit as materialized (
                    select clock_timestamp() as at
                ), kept as (
                    insert into schedule_span (schedule_id, version, tenant_id, until, timing_since, timing, template, overlap, misfire, paused,
                        workflow)
                    select s.id, s.version, s.tenant_id, e.at, s.timing_since, s.timing, s.template, s.overlap, s.misfire, false, s.workflow
                    from edit e cross join lateral (select f.* from schedule f where f.id = $1 limit 1) s
                    where s.fire_at <= e.at
                    returning version
                )
                update schedule set failures_in_row = $2, paused_at = e.at, paused_by = $3, paused_because = $4,
                    version = version + 1, updated_at = e.at, has_spans = has_spans or exists (select from kept)
                from edit e where id = $1",
            self.id.uuid(),
            i32::try_from(self.streak.failures).unwrap_or(i32::MAX),
            By::SYSTEM.actor.to_string(),
            because
        );
        named("fire.pause", query.execute(&mut *tx)).await?;
        let query = sqlx::query!(
            "insert into task_event (tenant_id, kind, detail)
                values ($1, 'schedule_paused', jsonb_build_object('schedule', $2::text, 'schedule_id', $3::text,
                    'failures', $4::integer, $5::text, $6::text))",
            self.tenant.uuid(),
            self.name,
            self.id.to_string(),
            i32::try_from(failures).unwrap_or(i32::MAX),
            kind,
            id
        );
        named("fire.tell_paused", query.execute(&mut *tx)).await?;
        let act = Act::new(AuditAction::SchedulePause, &self.name).to(json!({"because": because}));
        audit::write(tx, self.tenant, By::SYSTEM, act).await?;
        Ok(Some(PausedForFailures {
            schedule: self.id,
            tenant: self.tenant,
            name: self.name,
            failures,
            last,
        }))
    }

    async fn store(&self, tx: &mut PgConnection) -> Result<(), StoreError> {
        if self.streak.failures == self.before {
            return Ok(());
        }
        let query = sqlx::query!(
            "update schedule set failures_in_row = $2 where id = $1",
            self.id.uuid(),
            i32::try_from(self.streak.failures).unwrap_or(i32::MAX)
        );
        named("fire.count_failures", query.execute(tx)).await.map(|_| ())
    }
}
