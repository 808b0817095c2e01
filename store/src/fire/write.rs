//! Fires: writes what became of due times, their tasks and runs, and the next due times, all or nothing.
//!
//! The shards' rows first, then the schedules', by id, then tasks: every writer locks in this order. What is decided in between is
//! decided by pure code, over what is locked. A due time that has a row already makes nothing, whoever wrote it. Schedules that start runs
//! are written alone, because a run may have many tasks.

use super::count_ends::count_ends_of;
use super::facts;
use super::made::{NotMade, skipped, submit};
use super::moves::Moves;
use super::record::Facts;
use super::starts::{RunToStart, start};
use super::verdict::{Verdict, VerdictRow};
use super::{Due, fence};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::schedule::make::{Maker, task};
use crate::shard::ShardEpoch;
use crate::statement::{named, repeated};
use crate::task::submit::{FiredBy, NewTask};
use crate::task::transition::cancel_requested_in;
use crate::workflow::run::{NewRun, replaced_in};
use domain::id::{NodeId, TaskId, TenantId, WorkflowRunId};
use domain::schedule::{Made, Outcome, Overlap};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Shards that are not owned under the epoch that was named: nothing was written for them.
    pub lost: Vec<i16>,
    /// Due times that have not come yet by the database's clock.
    pub early: Vec<Due>,
    /// The next due times of what was written.
    pub next: Vec<Due>,
    /// Rows of the ledger, by outcome.
    pub rows: Vec<Outcome>,
    /// The longest that one of them was written after it was to be fired.
    pub lateness: Duration,
    /// Tasks that run and were asked to stop.
    pub asked_to_stop: bool,
    /// Runs were started or stopped.
    pub runs_changed: bool,
    /// Due times that may start runs: nothing was written of them. They are for [`write_starting`].
    pub starting: Vec<Due>,
}

/// Who fires.
#[derive(Debug, Clone, Copy)]
pub struct Firing<'a> {
    /// Which scheduler.
    pub node: NodeId,
    /// What it owns, and under which epochs.
    pub shards: &'a [ShardEpoch],
    /// What runs and is asked to stop must have ended so long from now, else its session is fenced.
    pub cancel_grace: Duration,
}

/// Fires those of `due` that stand still, in shards that are owned under these epochs, but for those that start runs. `judge` says what
/// becomes of each.
///
/// # Errors
/// When the database cannot answer; then nothing was written, or all, as far as [`StoreError::outcome_unknown`] says. Repeating it
/// writes nothing twice.
pub async fn write(
    db: &SchedulerDb,
    firing: Firing<'_>,
    due: &[Due],
    judge: impl Fn(&[Facts]) -> Result<Vec<Verdict>, StoreError>,
) -> Result<Written, StoreError> {
    let mut sorted = due.to_vec();
    sorted.sort_unstable_by_key(|due| due.schedule);
    sorted.dedup_by_key(|due| due.schedule);
    write_all(db, firing, (&sorted, false), judge).await
}

/// Fires `due` alone, whether it makes a task or starts runs.
///
/// # Errors
/// As [`write()`].
pub async fn write_starting(
    db: &SchedulerDb,
    firing: Firing<'_>,
    due: Due,
    judge: impl Fn(&[Facts]) -> Result<Vec<Verdict>, StoreError>,
) -> Result<Written, StoreError> {
    write_all(db, firing, (&[due], true), judge).await
}

/// Fires what is `sorted`; what may start runs only where it `may_start`.
async fn write_all(
    db: &SchedulerDb,
    firing: Firing<'_>,
    (sorted, may_start): (&[Due], bool),
    judge: impl Fn(&[Facts]) -> Result<Vec<Verdict>, StoreError>,
) -> Result<Written, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.fire_pool().begin()).await?;
        let held: HashSet<_> =
            fence::hold(&mut tx, firing.node, firing.shards).await?.into_iter().collect();
        let mut written = Written::default();
        written
            .lost
            .extend(firing.shards.iter().map(|at| at.shard).filter(|shard| !held.contains(shard)));
        let mine: Vec<_> = sorted.iter().copied().filter(|due| held.contains(&due.shard)).collect();
        if mine.is_empty() {
            return Ok(written);
        }
        let (mut come, early): (Vec<_>, Vec<_>) = facts::lock(&mut tx, &mine)
            .await?
            .into_iter()
            .partition(|facts| facts.due.fire_at <= facts.now);
        written.early.extend(early.into_iter().map(|facts| facts.due));
        if may_start {
            for facts in &mut come {
                if let Some(starts) = &mut facts.starts {
                    starts.read(&mut tx, (facts.due.tenant, &facts.plan)).await?;
                }
            }
        } else {
            let starting = come.extract_if(.., |facts| facts.starts.is_some());
            written.starting.extend(starting.map(|facts| facts.due));
        }
        let verdicts = judge(&come)?;
        let group = Group::of(&come, &verdicts)?;
        group.write(&mut tx, firing.cancel_grace, &mut written).await?;
        named("commit", tx.commit()).await?;
        Ok(written)
    })
    .await
}

/// Verdicts, each with what it is about.
struct Group<'a> {
    of: Vec<(&'a Facts, &'a Verdict)>,
    tasks: Vec<NewTask>,
    runs: Vec<RunToStart<'a>>,
}

impl<'a> Group<'a> {
    fn of(facts: &'a [Facts], verdicts: &'a [Verdict]) -> Result<Self, StoreError> {
        let by_id: HashMap<_, _> = facts.iter().map(|facts| (facts.due.schedule, facts)).collect();
        let of: Vec<_> = verdicts
            .iter()
            .filter_map(|verdict| Some((*by_id.get(&verdict.schedule)?, verdict)))
            .collect();
        let (mut tasks, mut runs) = (Vec::new(), Vec::new());
        for (facts, verdict) in &of {
            runs.extend(runs_of(facts, verdict));
            let template = verdict.template.as_ref().and_then(|template| template.task());
            let Some(template) = template else { continue };
            for row in &verdict.rows {
                let maker = Maker {
                    tenant: facts.due.tenant,
                    schedule: facts.due.schedule,
                    name: &facts.name,
                    overlap: if row.queued { Overlap::BufferAll } else { verdict.overlap },
                    template,
                    key_id: &facts.created_by,
                };
                if let Some(id) = row.made.and_then(Made::task) {
                    tasks.push(task(maker, id, row.due_at, row.delay));
                }
            }
        }
        Ok(Self { of, tasks, runs })
    }

    async fn write(
        mut self,
        tx: &mut PgConnection,
        grace: Duration,
        written: &mut Written,
    ) -> Result<(), StoreError> {
        if self.of.is_empty() {
            return Ok(());
        }
        let (tasks, runs) = (self.to_cancel(Made::task), self.to_cancel(Made::run));
        if !tasks.is_empty() {
            written.asked_to_stop = cancel_requested_in(tx, &tasks, grace).await? > 0;
        }
        if !runs.is_empty() {
            written.runs_changed = replaced_in(tx, &runs).await? > 0;
        }
        let at = self.ledger(tx).await?;
        let rows = self.of.iter().map(|(_, verdict)| verdict.rows.len()).sum::<usize>();
        if at.len() < rows {
            self.tasks.retain(|task| at.contains_key(&task.id.uuid()));
            self.runs.retain(|one| at.contains_key(&one.run.id.uuid()));
        }
        let refused = submit(tx, &self.tasks).await?;
        start(tx, &self.runs).await?;
        written.runs_changed |= !self.runs.is_empty();
        self.refuse(tx, &refused).await?;
        self.count_ends(tx, &refused).await?;
        self.forget(tx).await?;
        for (facts, verdict) in &self.of {
            written.rows.extend(verdict.rows.iter().map(|row| match row.made {
                Some(Made::Task(task)) => refused.get(&task).map_or(row.outcome, NotMade::outcome),
                _ => row.outcome,
            }));
            written.next.extend(verdict.next.map(|(due_at, fire_at)| Due {
                due_at,
                fire_at,
                ..facts.due
            }));
            let late = at.values().next().map_or(facts.now, |at| *at) - facts.due.fire_at;
            written.lateness = written.lateness.max(late.to_std().unwrap_or_default());
        }
        Ok(())
    }

    /// What is to stop of the kind that has an `id`, each with its tenant.
    fn to_cancel<T>(&self, id: fn(Made) -> Option<T>) -> Vec<(TenantId, T)> {
        let all = self.of.iter().flat_map(|(facts, verdict)| {
            verdict.cancel.iter().map(move |made| (facts.due.tenant, *made))
        });
        all.filter_map(|(tenant, made)| Some((tenant, id(made)?))).collect()
    }

    /// Writes the ledger and the next due times. The new rows, by the task or run (or else the schedule) they name, and when they were
    /// written.
    async fn ledger(&self, tx: &mut PgConnection) -> Result<HashMap<Uuid, Timestamp>, StoreError> {
        let rows: Vec<(&Facts, &Verdict, &VerdictRow)> = self
            .of
            .iter()
            .flat_map(|(facts, of)| of.rows.iter().map(move |row| (*facts, *of, row)))
            .collect();
        let tenants: Vec<_> = rows.iter().map(|(facts, ..)| facts.due.tenant.uuid()).collect();
        let schedules: Vec<_> = rows.iter().map(|(facts, ..)| facts.due.schedule.uuid()).collect();
        let due: Vec<_> = rows.iter().map(|(.., row)| row.due_at).collect();
        let outcomes: Vec<_> =
            rows.iter().map(|(.., row)| row.outcome.as_str().to_owned()).collect();
        let id_of = |id: fn(Made) -> Option<Uuid>| -> Vec<Option<Uuid>> {
            rows.iter().map(|(.., row)| row.made.and_then(id)).collect()
        };
        let tasks = id_of(|made| made.task().map(TaskId::uuid));
        let runs = id_of(|made| made.run().map(WorkflowRunId::uuid));
        let details: Vec<_> = rows.iter().map(|(.., row)| row.detail.clone()).collect();
        let versions: Vec<_> = rows.iter().map(|(_, of, _)| of.version).collect();
        let moves = Moves::of(&self.of);
        let query = sqlx::query!(
            r#"with moved as (
                    update schedule s set due_at = i.due_at, fire_at = i.fire_at, fires = i.fires, awaits = i.awaits,
                        recent = i.recent::uuid[], recent_runs = i.recent_runs::uuid[], tzdb = $15,
                        ended_at = case when i.due_at is null and i.awaits is null then clock_timestamp() end
                    from unnest($7::uuid[], $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::bigint[], $12::uuid[],
                        $13::text[], $14::bigint[], $16::text[]) as i(id, was, due_at, fire_at, fires, awaits, recent, version, recent_runs)
                    where s.id = any (array[i.id]) and s.due_at = i.was and s.version = i.version
                ), told as (
                    insert into schedule_fire (tenant_id, schedule_id, due_at, outcome, kind, fired_at, task_id, version, run_id, detail)
                    select r.tenant_id, r.schedule_id, r.due_at, r.outcome, 'scheduled', clock_timestamp(), r.task_id, r.version, r.run_id,
                        r.detail
                    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::uuid[], $6::bigint[], $17::uuid[], $18::text[])
                        as r(tenant_id, schedule_id, due_at, outcome, task_id, version, run_id, detail)
                    on conflict do nothing
                    returning schedule_id, task_id, run_id, fired_at
                )
                select coalesce(task_id, run_id, schedule_id) as "id!", fired_at as "fired_at!" from told"#,
            &tenants,
            &schedules,
            &due,
            &outcomes,
            &tasks as &[Option<Uuid>],
            &versions,
            &moves.ids,
            &moves.was,
            &moves.due_at as &[Option<Timestamp>],
            &moves.fire_at as &[Option<Timestamp>],
            &moves.fires,
            &moves.awaits as &[Option<Uuid>],
            &moves.recent,
            &moves.versions,
            domain::schedule::rules_version(),
            &moves.recent_runs,
            &runs as &[Option<Uuid>],
            &details as &[Option<String>]
        );
        let rows = named("fire.ledger", query.fetch_all(tx)).await?;
        Ok(rows.into_iter().map(|row| (row.id, row.fired_at)).collect())
    }

    /// Forgets earlier versions by which nothing is judged any more, and what was deleted and has no due time left.
    async fn forget(&self, tx: &mut PgConnection) -> Result<(), StoreError> {
        let (ids, versions): (Vec<_>, Vec<_>) = self
            .of
            .iter()
            .flat_map(|(facts, of)| {
                of.settled.iter().map(|version| (facts.due.schedule.uuid(), *version))
            })
            .unzip();
        if !ids.is_empty() {
            let query = sqlx::query!(
                "with settled as (
                        delete from schedule_span p using unnest($1::uuid[], $2::bigint[]) as i(id, version)
                        where p.schedule_id = i.id and p.version = i.version
                    )
                    update schedule s set has_spans = exists (
                        select from schedule_span p where p.schedule_id = s.id and not exists (
                            select from unnest($1::uuid[], $2::bigint[]) as i(id, version)
                            where i.id = p.schedule_id and i.version = p.version))
                    where s.id = any ($1)",
                &ids,
                &versions
            );
            named("fire.forget_spans", query.execute(&mut *tx)).await?;
        }
        let is_over = |of: &Verdict| of.next.is_none() && of.awaits.is_none();
        let gone: Vec<_> = self
            .of
            .iter()
            .filter(|(facts, of)| facts.deleted_at.is_some() && is_over(of))
            .map(|(facts, _)| facts.due.schedule.uuid())
            .collect();
        if !gone.is_empty() {
            let query = sqlx::query!("delete from schedule where id = any ($1)", &gone);
            named("fire.forget_schedules", query.execute(tx)).await?;
        }
        Ok(())
    }

    /// Has the ends of tasks counted of those schedules that are to pause when too many fail: the others cost nothing.
    async fn count_ends(
        &self,
        tx: &mut PgConnection,
        refused: &HashMap<TaskId, NotMade>,
    ) -> Result<(), StoreError> {
        let stored: HashSet<_> =
            self.tasks.iter().map(|task| task.id).filter(|id| !refused.contains_key(id)).collect();
        let made: Vec<_> = self
            .of
            .iter()
            .filter(|(facts, _)| facts.counts_ends)
            .flat_map(|(facts, verdict)| {
                verdict.rows.iter().map(move |row| (facts.due, row.made.and_then(Made::task)))
            })
            .filter_map(|(due, task)| Some((due, task.filter(|task| stored.contains(task))?)))
            .collect();
        count_ends_of(tx, &made).await
    }

    /// Notes of due times that made no task after all, because one of the template's unique key lives, or a spend cap has no room.
    async fn refuse(
        &self,
        tx: &mut PgConnection,
        refused: &HashMap<TaskId, NotMade>,
    ) -> Result<(), StoreError> {
        if refused.is_empty() {
            return Ok(());
        }
        let of = |task: TaskId| {
            self.of.iter().find_map(|(facts, verdict)| {
                let row = verdict.rows.iter().find(|row| row.made == Some(Made::Task(task)))?;
                Some((facts.due.tenant.uuid(), facts.due.schedule.uuid(), row.due_at))
            })
        };
        let rows: Vec<_> = refused
            .iter()
            .filter_map(|(task, why)| Some((of(*task)?, why.outcome(), why.detail())))
            .collect();
        skipped(tx, &rows).await
    }
}

/// The runs that due times of a schedule start.
fn runs_of<'a>(
    facts: &'a Facts,
    verdict: &'a Verdict,
) -> impl Iterator<Item = RunToStart<'a>> + 'a {
    let started = verdict.runs.as_ref().into_iter().flat_map(move |of| {
        let ids = verdict.rows.iter().filter_map(|row| Some((row.made?.run()?, row.due_at)));
        ids.map(move |(id, due_at)| (of, id, due_at))
    });
    started.map(move |(of, id, due_at)| {
        let name = facts.name.clone();
        let fired = FiredBy { schedule: facts.due.schedule, name, due_at };
        let of_run = of.run_of(facts.due.tenant, &facts.created_by, fired);
        RunToStart { run: NewRun::of_fire(id, of_run, facts.counts_ends), of }
    })
}
