//! How the tasks of schedules end that pause when too many fail one after the other.
//!
//! A row a task, made with it and taken away by whoever counts its end, in the same transaction: so that each end counts once,
//! however many look, and ending tasks costs nothing. The pause is stored under the lock that a fire takes: no due time after it
//! makes a task.

use super::Due;
use crate::StoreError;
use crate::audit::{self, Act};
use crate::connect::SchedulerDb;
use crate::schedule::read_text;
use crate::statement::named;
use domain::audit::By;
use domain::id::{ScheduleId, TaskId, TenantId};
use domain::schedule::FailureStreak;
use domain::task::State;
use domain::time::Timestamp;
use serde_json::json;
use sqlx::PgConnection;
use std::collections::HashSet;
use uuid::Uuid;

/// A task that is followed, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// In which shard its schedule is.
    pub shard: i16,
    /// Which schedule made it.
    pub schedule: ScheduleId,
    /// Which it is.
    pub task: TaskId,
    /// It has not ended.
    pub lives: bool,
    /// How it ended, and when; nothing while it lives, and where nothing is known of it any more.
    pub end: Option<(State, Timestamp)>,
}

/// A schedule that was paused because its tasks failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedForFailures {
    /// Whose.
    pub tenant: TenantId,
    /// What its owner calls it.
    pub name: String,
    /// How many in a row.
    pub failures: u32,
    /// The last of them.
    pub last: TaskId,
}

/// Follows the tasks that these due times have made.
pub(super) async fn follow(
    tx: &mut PgConnection,
    made: &[(Due, TaskId)],
) -> Result<(), StoreError> {
    if made.is_empty() {
        return Ok(());
    }
    let query = sqlx::query!(
        "insert into schedule_follow (shard, task_id, tenant_id, schedule_id)
            select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[])",
        &made.iter().map(|(due, _)| due.shard).collect::<Vec<_>>(),
        &made.iter().map(|(_, task)| task.uuid()).collect::<Vec<_>>(),
        &made.iter().map(|(due, _)| due.tenant.uuid()).collect::<Vec<_>>(),
        &made.iter().map(|(due, _)| due.schedule.uuid()).collect::<Vec<_>>()
    );
    named("fire.follow", query.execute(tx)).await.map(|_| ())
}

/// The next tasks that are followed in `shards` behind `after`, at most `limit` of a shard, by shard and id.
///
/// # Errors
/// When the database cannot answer.
pub async fn followed(
    db: &SchedulerDb,
    shards: &[i16],
    after: Option<TaskId>,
    limit: i64,
) -> Result<Vec<Followed>, StoreError> {
    let query = sqlx::query!(
        r#"select f.shard as "shard!", f.schedule_id as "schedule!", f.task_id as "task!", k.id is not null as "lives!",
                e.state as "state?", e.finished_at as "finished_at?"
            from unnest($1::smallint[]) as h(shard)
            cross join lateral (
                select n.* from schedule_follow n where n.shard = h.shard and n.task_id > $2 order by n.task_id limit $3) f
            left join lateral (select o.id from task o where o.tenant_id = f.tenant_id and o.id = f.task_id limit 1) k on true
            left join lateral (
                select o.state::text as state, o.finished_at from task_history o
                where k.id is null and o.tenant_id = f.tenant_id and o.id = f.task_id and o.finished_at >= f.since limit 1) e on true
            order by f.shard, f.task_id"#,
        shards,
        after.map_or(Uuid::nil(), |task| task.uuid()),
        limit
    );
    let rows = named("fire.followed", query.fetch_all(db.pool())).await?;
    let followed = rows.into_iter().map(|row| {
        let schedule = ScheduleId(row.schedule);
        let state = row.state.map(|state| read_text("state", schedule, &state)).transpose()?;
        Ok(Followed {
            shard: row.shard,
            schedule,
            task: TaskId(row.task),
            lives: row.lives,
            end: state.zip(row.finished_at),
        })
    });
    followed.collect()
}

/// Counts these ends of one schedule's tasks, each once whoever else does; says so where the schedule is paused for it.
///
/// # Errors
/// When the database cannot answer. Repeating it counts nothing twice.
pub async fn count_ends(
    db: &SchedulerDb,
    ends: &[Followed],
) -> Result<Option<PausedForFailures>, StoreError> {
    let Some(first) = ends.first() else { return Ok(None) };
    let (schedule, shard) = (first.schedule, first.shard);
    let mut tx = named("begin", db.pool().begin()).await?;
    // First its row, as who fires it does.
    let found = lock(&mut tx, schedule).await?;
    let tasks: Vec<_> = ends.iter().map(|end| end.task.uuid()).collect();
    let query = sqlx::query_scalar!(
        "delete from schedule_follow where shard = $1 and task_id = any ($2) returning task_id",
        shard,
        &tasks
    );
    let mine: HashSet<_> =
        named("fire.unfollow", query.fetch_all(&mut *tx)).await?.into_iter().collect();
    let mut paused = None;
    if let Some(found) = found {
        let mut mine: Vec<_> = ends.iter().filter(|end| mine.contains(&end.task.uuid())).collect();
        mine.sort_unstable_by_key(|end| (end.end.map(|(_, at)| at), end.task));
        paused = found.count(&mut tx, &mine).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(paused)
}

/// A schedule whose tasks are counted.
struct LockedSchedule {
    id: ScheduleId,
    tenant: TenantId,
    name: String,
    streak: FailureStreak,
    before: u32,
    paused: bool,
}

async fn lock(tx: &mut PgConnection, id: ScheduleId) -> Result<Option<LockedSchedule>, StoreError> {
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
    async fn count(
        mut self,
        tx: &mut PgConnection,
        ends: &[&Followed],
    ) -> Result<Option<PausedForFailures>, StoreError> {
        let mut reached = None;
        for (task, state) in ends.iter().filter_map(|one| Some((one.task, one.end?.0))) {
            if self.streak.ended(state) && reached.is_none() {
                reached = Some((task, state, self.streak.failures));
            }
        }
        let Some((last, state, failures)) = reached.filter(|_| !self.paused) else {
            self.store(tx).await?;
            return Ok(None);
        };
        let because = format!(
            "{failures} tasks in a row did not succeed; the last, `{last}`, ended `{state}`"
        );
        // As every edit: what had come before and has no row is judged by the version before.
        let query = sqlx::query!(
            "with edit as materialized (
                    select clock_timestamp() as at
                ), kept as (
                    insert into schedule_span (schedule_id, version, tenant_id, until, timing_since, timing, template, overlap, misfire, paused)
                    select s.id, s.version, s.tenant_id, e.at, s.timing_since, s.timing, s.template, s.overlap, s.misfire, false
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
            "insert into tenant_event (tenant_id, kind, detail)
                values ($1, 'schedule_paused', jsonb_build_object('schedule', $2::text, 'schedule_id', $3::text,
                    'failures', $4::integer, 'task', $5::text))",
            self.tenant.uuid(),
            self.name,
            self.id.to_string(),
            i32::try_from(failures).unwrap_or(i32::MAX),
            last.to_string()
        );
        named("fire.tell_paused", query.execute(&mut *tx)).await?;
        let act =
            Act::new("schedule.pause", "schedule", &self.name).to(json!({"because": because}));
        audit::write(tx, self.tenant, By::SYSTEM, act).await?;
        Ok(Some(PausedForFailures { tenant: self.tenant, name: self.name, failures, last }))
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
