//! Goes on with backfills, piece by piece.
//!
//! A piece is written in one transaction with how far it went. A due time that has made something makes nothing here, however often it is
//! asked for; one that was skipped, paused or missed makes it now, and its row says so.

use super::fence;
use super::made::{skipped, submit};
use super::starts::{FiredRuns, RunToStart, Starts, start};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::plan::name_of;
use crate::schedule::make::{Maker, task};
use crate::schedule::{read_json, read_template, read_text};
use crate::shard::ShardEpoch;
use crate::statement::{named, repeated};
use crate::task::submit::FiredBy;
use crate::tenant::state_of;
use crate::workflow::run::NewRun;
use domain::id::{NodeId, PlanName, PoolName, ScheduleId, TaskId, TenantId, WorkflowRunId};
use domain::schedule::{FireTemplate, Made, Overlap, Reckoner, Timing};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashSet;
use std::time::Duration;
use uuid::Uuid;

/// Due times of one piece, at most.
const PIECE: f64 = 200.0;

/// What one piece did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackfillStep {
    /// Tasks made.
    pub made: usize,
    /// Nothing is left of it.
    pub done: bool,
}

/// A schedule that has a backfill of which a piece may be fired now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueBackfill {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The tenant.
    pub tenant: TenantId,
    /// Its shard.
    pub shard: i16,
}

/// Schedules of `shards` that have a backfill of which a piece may be fired now, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn backfills(
    db: &SchedulerDb,
    shards: &[i16],
    limit: i64,
) -> Result<Vec<DueBackfill>, StoreError> {
    let query = sqlx::query!(
        r#"select b.schedule_id, b.tenant_id, s.shard as "shard!" from schedule_backfill b
            cross join lateral (select o.shard from schedule o where o.id = b.schedule_id limit 1) s
            where b.next_at <= clock_timestamp() and s.shard = any ($1)
            order by b.next_at limit $2"#,
        shards,
        limit
    );
    let rows = named("fire.backfills", query.fetch_all(db.fire_pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| DueBackfill {
            schedule: ScheduleId(row.schedule_id),
            tenant: TenantId(row.tenant_id),
            shard: row.shard,
        })
        .collect())
}

/// A backfill, and the schedule of which it is.
struct LockedSchedule {
    schedule: ScheduleId,
    tenant: TenantId,
    name: String,
    version: i64,
    overlap: Overlap,
    template: FireTemplate,
    /// What its runs are made of, where it starts runs and can.
    runs: Option<FiredRuns>,
    reckoner: Reckoner,
    reached: Timestamp,
    until: Timestamp,
    per_second: f64,
    key_id: String,
    tenant_state: TenantState,
    plan: PlanName,
}

/// Fires the next piece of a schedule's backfill, for at most so many tasks as there is `room` for in its pool, for a tenant on its plan: it
/// waits while there is none, also because the pool is not granted to the tenant any more. Nothing where `node` does not own its shard any more.
///
/// # Errors
/// When the database cannot answer. Repeating it fires nothing twice.
pub async fn backfill_step(
    db: &SchedulerDb,
    node: NodeId,
    at: ShardEpoch,
    schedule: ScheduleId,
    room: impl Fn(&[&PoolName], &PlanName) -> u64,
) -> Result<BackfillStep, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.fire_pool().begin()).await?;
        if fence::hold(&mut tx, node, &[at]).await?.is_empty() {
            return Ok(BackfillStep::default());
        }
        let Some(mut found) = lock(&mut tx, schedule).await? else {
            return Ok(BackfillStep { made: 0, done: true });
        };
        found.read_workflow(&mut tx).await?;
        let room = found.room(&room);
        let step = found.fire(&mut tx, room).await?;
        named("commit", tx.commit()).await?;
        Ok(step)
    })
    .await
}

/// Lets a schedule's backfill, which failed, wait for `pause`, so that it keeps no other from its turn.
///
/// # Errors
/// When the database cannot answer.
pub async fn postpone_backfill(
    db: &SchedulerDb,
    schedule: ScheduleId,
    pause: Duration,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule_backfill set next_at = clock_timestamp() + $2 * interval '1 second' where schedule_id = $1",
        schedule.uuid(),
        pause.as_secs_f64()
    );
    named("fire.postpone_backfill", query.execute(db.fire_pool())).await.map(|_| ())
}

async fn lock(
    tx: &mut PgConnection,
    schedule: ScheduleId,
) -> Result<Option<LockedSchedule>, StoreError> {
    let query = sqlx::query!(
        r#"select s.tenant_id as "tenant_id!", s.name as "name!", s.version as "version!", s.overlap as "overlap!", s.template as "template!",
                s.timing as "timing!", s.created_at as "created_at!", b.reached as "reached!", b.until as "until!",
                b.per_second as "per_second!", b.key_id as "key_id!", t.state as "state!", t.plan as "plan!"
            from (select n.* from schedule n where n.id = $1 limit 1 for no key update) s
            cross join lateral (select n.* from schedule_backfill n where n.schedule_id = s.id limit 1 for no key update) b
            cross join lateral (select o.state, o.plan from tenant o where o.id = s.tenant_id limit 1) t"#,
        schedule.uuid()
    );
    let Some(row) = named("fire.lock_backfill", query.fetch_all(tx)).await?.pop() else {
        return Ok(None);
    };
    let timing: Timing = read_json("timing", schedule, &row.timing)?;
    Ok(Some(LockedSchedule {
        schedule,
        tenant: TenantId(row.tenant_id),
        name: row.name,
        version: row.version,
        overlap: read_text("overlap", schedule, &row.overlap)?,
        template: read_template(schedule, &row.template)?,
        runs: None,
        reckoner: crate::schedule::reckoner(schedule, &timing, row.created_at)?,
        reached: row.reached,
        until: row.until,
        per_second: row.per_second,
        key_id: row.key_id,
        tenant_state: state_of(&row.state, row.tenant_id)?,
        plan: name_of(row.plan)?,
    }))
}

impl LockedSchedule {
    /// Reads the definition of its workflow, where it has one.
    async fn read_workflow(&mut self, tx: &mut PgConnection) -> Result<(), StoreError> {
        if let Some(start) = self.template.workflow() {
            let mut starts = Starts::of(start.workflow.clone());
            starts.read(tx, (self.tenant, &self.plan)).await?;
            // One that cannot run waits until it can.
            self.runs = starts.runs(start.input.as_deref()).ok();
        }
        Ok(())
    }

    /// How many of its due times there is room for.
    fn room(&self, room: impl Fn(&[&PoolName], &PlanName) -> u64) -> u64 {
        match (self.template.task(), &self.runs) {
            (Some(task), _) => room(&[&task.pool], &self.plan),
            (None, Some(runs)) => {
                let pools: Vec<_> = runs.pools().into_iter().collect();
                runs.room_with(room(&pools, &self.plan)).min(runs.at_once())
            }
            (None, None) => 0,
        }
    }

    async fn fire(&self, tx: &mut PgConnection, room: u64) -> Result<BackfillStep, StoreError> {
        if self.tenant_state == TenantState::Deleted {
            self.end(tx).await?;
            return Ok(BackfillStep { made: 0, done: true });
        }
        if self.tenant_state != TenantState::Active || room == 0 {
            // Until there is room, or the tenant may run again, or in that pool.
            self.rest(tx, self.reached, Duration::from_secs(5)).await?;
            return Ok(BackfillStep::default());
        }
        // So many as come in a second: each piece is due when those of the one before have had their time.
        let piece = usize::try_from(room)
            .unwrap_or(usize::MAX)
            .min(self.per_second.clamp(1.0, PIECE) as usize);
        let next = |after| self.reckoner.next_after(after).map(|due| due.at);
        let due: Vec<_> = std::iter::successors(next(self.reached), |at| next(*at))
            .take_while(|at| *at < self.until)
            .take(piece)
            .collect();
        let made = self.make(tx, &due).await?;
        match due.last() {
            Some(last) if due.len() == piece => {
                let pause = Duration::from_secs_f64(made.max(1) as f64 / self.per_second);
                // What made no task took no time.
                let pause = if made == 0 { Duration::ZERO } else { pause };
                self.rest(tx, *last, pause).await?;
                Ok(BackfillStep { made, done: false })
            }
            _ => {
                self.end(tx).await?;
                Ok(BackfillStep { made, done: true })
            }
        }
    }

    /// Fires those of `due` that have made nothing; how many.
    async fn make(&self, tx: &mut PgConnection, due: &[Timestamp]) -> Result<usize, StoreError> {
        if due.is_empty() {
            return Ok(0);
        }
        let fresh = |_: &Timestamp| match &self.runs {
            Some(_) => Made::Run(WorkflowRunId::fresh()),
            None => Made::Task(TaskId::fresh()),
        };
        let ids: Vec<_> = due.iter().map(fresh).collect();
        let id_of = |id: fn(Made) -> Option<Uuid>| -> Vec<Option<Uuid>> {
            ids.iter().map(|made| id(*made)).collect()
        };
        let query = sqlx::query_scalar!(
            r#"insert into schedule_fire as f (tenant_id, schedule_id, due_at, outcome, kind, fired_at, task_id, version, run_id)
                select $1, $2, i.due_at, 'fired', 'backfill', clock_timestamp(), i.task_id, $3, i.run_id
                from unnest($4::timestamptz[], $5::uuid[], $6::uuid[]) as i(due_at, task_id, run_id)
                on conflict (tenant_id, schedule_id, due_at) do update set outcome = excluded.outcome, kind = excluded.kind,
                    fired_at = excluded.fired_at, task_id = excluded.task_id, version = excluded.version, detail = null,
                    run_id = excluded.run_id
                    where f.task_id is null and f.run_id is null
                returning coalesce(task_id, run_id) as "id!""#,
            self.tenant.uuid(),
            self.schedule.uuid(),
            self.version,
            due,
            &id_of(|made| made.task().map(TaskId::uuid)) as &[Option<Uuid>],
            &id_of(|made| made.run().map(WorkflowRunId::uuid)) as &[Option<Uuid>]
        );
        let won: HashSet<Uuid> =
            named("fire.backfill", query.fetch_all(&mut *tx)).await?.into_iter().collect();
        let won = |id: &Made| won.contains(&id.uuid());
        let Some(template) = self.template.task() else {
            return self.start(tx, ids.iter().zip(due).filter(|(id, _)| won(id))).await;
        };
        let of = Maker {
            tenant: self.tenant,
            schedule: self.schedule,
            name: &self.name,
            overlap: self.overlap,
            template,
            key_id: &self.key_id,
        };
        let tasks = ids
            .iter()
            .zip(due)
            .filter(|(id, _)| won(id))
            .filter_map(|(id, due_at)| Some(task(of, id.task()?, *due_at, Duration::ZERO)))
            .collect::<Vec<_>>();
        let refused = submit(&mut *tx, &tasks).await?;
        if refused.is_empty() {
            return Ok(tasks.len());
        }
        let rows: Vec<_> = due
            .iter()
            .zip(&ids)
            .filter_map(|(at, id)| {
                let of = (self.tenant.uuid(), self.schedule.uuid(), *at);
                let why = refused.get(&id.task()?)?;
                Some((of, why.outcome(), why.detail()))
            })
            .collect();
        skipped(tx, &rows).await?;
        Ok(tasks.len() - rows.len())
    }

    /// Starts a run for each of these due times; how many.
    async fn start(
        &self,
        tx: &mut PgConnection,
        due: impl Iterator<Item = (&Made, &Timestamp)>,
    ) -> Result<usize, StoreError> {
        let Some(of) = &self.runs else { return Ok(0) };
        let runs: Vec<_> = due
            .filter_map(|(id, due_at)| {
                let name = self.name.clone();
                let fired = FiredBy { schedule: self.schedule, name, due_at: *due_at };
                let of_run = of.run_of(self.tenant, &self.key_id, fired);
                Some(RunToStart { run: NewRun::of_fire(id.run()?, of_run, false), of })
            })
            .collect();
        start(tx, &runs).await?;
        Ok(runs.len())
    }

    async fn end(&self, tx: &mut PgConnection) -> Result<(), StoreError> {
        let query = sqlx::query!(
            "delete from schedule_backfill where schedule_id = $1",
            self.schedule.uuid()
        );
        named("fire.end_backfill", query.execute(tx)).await.map(|_| ())
    }

    async fn rest(
        &self,
        tx: &mut PgConnection,
        reached: Timestamp,
        pause: Duration,
    ) -> Result<(), StoreError> {
        let query = sqlx::query!(
            "update schedule_backfill set reached = $2, next_at = clock_timestamp() + $3 * interval '1 second' where schedule_id = $1",
            self.schedule.uuid(),
            reached,
            pause.as_secs_f64()
        );
        named("fire.rest_backfill", query.execute(tx)).await.map(|_| ())
    }
}
