//! Fires a schedule now, because somebody asks: whatever its times, pause and overlap say.

use super::make::{Maker, task};
use super::record::{FireKind, FireRecord, read_template, read_text};
use crate::audit::{self, Act, AuditAction};
use crate::connect::SubmitDb;
use crate::idempotency::{IdempotencyKey, Once, answered_before, put_answer};
use crate::spend::CapRefusal;
use crate::statement::{named, repeated};
use crate::task::submit::{FiredBy, SubmitAnswer, in_transaction};
use crate::workflow::run::{NewRun, RunOf, start_in, unfinished};
use crate::{StoreError, TenantScope};
use domain::id::{PoolName, ScheduleId, TaskId, WorkflowRunId};
use domain::schedule::{FireTemplate, Made, Outcome};
use domain::time::Timestamp;
use serde_json::json;
use sqlx::PgConnection;
use std::time::Duration;

/// What became of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerAnswer {
    /// It made this fire, with a task or a run.
    Fired(FireRecord),
    /// It starts runs: see [`trigger_run`]. Of [`trigger_run`]: it is in another version.
    Otherwise,
    /// The tenant has reached its limit of runs that have not ended.
    QuotaReached,
    /// A task of the template's unique key lives.
    Existing(TaskId),
    /// A spend cap has no room for its task.
    OverCap(Box<CapRefusal>),
    /// Its tenant may not use the pool of its task, or there is none of this name.
    NoPool(PoolName),
    /// The tenant has none of this name.
    NotFound,
}

/// Who fires a schedule now.
#[derive(Clone, Copy)]
pub struct Trigger<'a> {
    /// By what the task comes.
    pub by: &'a str,
    /// With an idempotency key it happens once.
    pub once: Option<&'a IdempotencyKey>,
    /// Whether its tenant may use a pool.
    pub admits: &'a (dyn Fn(&PoolName) -> bool + Sync),
}

/// Fires the tenant's schedule of this name. With an idempotency key once, and `answer` is kept. Wake the batcher (`Topic::Batcher`) when
/// it is `Fired`.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether it may have fired.
pub async fn trigger(
    db: &SubmitDb,
    scope: &TenantScope,
    name: &str,
    Trigger { by, once, admits }: Trigger<'_>,
    answer: impl Fn(&FireRecord) -> Vec<u8>,
) -> Result<Once<TriggerAnswer>, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        if let Some(before) = answered_before(&mut tx, scope, once).await? {
            return Ok(before);
        }
        // What makes no fire leaves no key behind.
        let Some(found) = lock(&mut tx, scope, name).await? else {
            return Ok(Once::Done(TriggerAnswer::NotFound));
        };
        let Some(template) = found.template.task() else {
            return Ok(Once::Done(TriggerAnswer::Otherwise));
        };
        if !admits(&template.pool) {
            return Ok(Once::Done(TriggerAnswer::NoPool(template.pool.clone())));
        }
        let of = Maker {
            tenant: scope.tenant(),
            schedule: found.id,
            name,
            overlap: found.overlap,
            template,
            key_id: by,
        };
        let made = task(of, TaskId::fresh(), found.now, Duration::ZERO);
        let id = made.id;
        match in_transaction(&mut tx, &[made]).await?.pop() {
            Some(SubmitAnswer::Created(_)) => {}
            Some(SubmitAnswer::Existing(task)) => {
                return Ok(Once::Done(TriggerAnswer::Existing(task)));
            }
            Some(SubmitAnswer::OverCap(refusal)) => {
                return Ok(Once::Done(TriggerAnswer::OverCap(refusal)));
            }
            // It has no idempotency key.
            _ => return Err(StoreError::Contended),
        }
        let act = Act::new(AuditAction::ScheduleTrigger, name).to(json!({"task": id}));
        let fire = write(&mut tx, scope, (&found, Made::Task(id)), act).await?;
        if let Some(once) = once {
            put_answer(&mut tx, scope, once, 201, &answer(&fire)).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(Once::Done(TriggerAnswer::Fired(fire)))
    })
    .await
}

/// The run that a trigger starts.
#[derive(Debug, Clone, Copy)]
pub struct TriggerRun<'a> {
    /// What it is of.
    pub of: &'a RunOf,
    /// For the schedule in this version.
    pub version: i64,
    /// Runs that the tenant may have that have not ended, and tasks that this one may come to have.
    pub most: (u64, i64),
}

/// [`trigger`] for a schedule that starts runs. Wake the batcher and the schedulers when it is `Fired`.
///
/// # Errors
/// As [`trigger`].
pub async fn trigger_run(
    db: &SubmitDb,
    (scope, once): (&TenantScope, Option<&IdempotencyKey>),
    name: &str,
    run: TriggerRun<'_>,
    answer: impl Fn(&FireRecord) -> Vec<u8>,
) -> Result<Once<TriggerAnswer>, StoreError> {
    let TriggerRun { of, version, most } = run;
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        if let Some(before) = answered_before(&mut tx, scope, once).await? {
            return Ok(before);
        }
        let Some(found) = lock(&mut tx, scope, name).await? else {
            return Ok(Once::Done(TriggerAnswer::NotFound));
        };
        if found.version != version || found.template.workflow().is_none() {
            return Ok(Once::Done(TriggerAnswer::Otherwise));
        }
        if unfinished(&mut tx, scope.tenant(), most.0).await? >= most.0 {
            return Ok(Once::Done(TriggerAnswer::QuotaReached));
        }
        let fired = FiredBy { schedule: found.id, name: name.to_owned(), due_at: found.now };
        let of = RunOf { fired: Some(fired), ..of.clone() };
        let new = NewRun::of_fire(WorkflowRunId::fresh(), of, false);
        start_in(&mut tx, &new, most.1).await?;
        let act = Act::new(AuditAction::ScheduleTrigger, name).to(json!({"workflow_run": new.id}));
        let fire = write(&mut tx, scope, (&found, Made::Run(new.id)), act).await?;
        if let Some(once) = once {
            put_answer(&mut tx, scope, once, 201, &answer(&fire)).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(Once::Done(TriggerAnswer::Fired(fire)))
    })
    .await
}

struct LockedSchedule {
    id: ScheduleId,
    version: i64,
    overlap: domain::schedule::Overlap,
    template: FireTemplate,
    /// The database's time, which is the fire's due time.
    now: Timestamp,
}

async fn lock(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<LockedSchedule>, StoreError> {
    let query = sqlx::query!(
        r#"select id, version, overlap, template, clock_timestamp() as "now!"
            from schedule where tenant_id = $1 and name = $2 for no key update"#,
        scope.tenant().uuid(),
        name
    );
    let Some(row) = named("schedule.lock_to_trigger", query.fetch_all(tx)).await?.pop() else {
        return Ok(None);
    };
    let id = ScheduleId(row.id);
    Ok(Some(LockedSchedule {
        id,
        version: row.version,
        overlap: read_text("overlap", id, &row.overlap)?,
        template: read_template(id, &row.template)?,
        now: row.now,
    }))
}

/// Writes the fire, due now, and adds what it made to the schedule's.
async fn write(
    tx: &mut PgConnection,
    scope: &TenantScope,
    (found, made): (&LockedSchedule, Made),
    act: Act,
) -> Result<FireRecord, StoreError> {
    let query = sqlx::query!(
        "with made as (
                insert into schedule_fire (tenant_id, schedule_id, due_at, outcome, kind, fired_at, task_id, version, run_id)
                values ($1, $2, $5, 'fired', 'trigger', $5, $3, $4, $6)
            )
            update schedule set
                recent = case when $3::uuid is null then recent
                    else recent[greatest(1, cardinality(recent) - 30):] || $3::uuid end,
                recent_runs = case when $6::uuid is null then recent_runs
                    else recent_runs[greatest(1, cardinality(recent_runs) - 30):] || $6::uuid end
            where id = $2",
        scope.tenant().uuid(),
        found.id.uuid(),
        made.task().map(TaskId::uuid),
        found.version,
        found.now,
        made.run().map(WorkflowRunId::uuid)
    );
    match named("schedule.trigger", query.execute(&mut *tx)).await {
        Ok(_) => {}
        // A due time of this very microsecond.
        Err(error) if error.sqlstate().as_deref() == Some("23505") => {
            return Err(StoreError::Contended);
        }
        Err(error) => return Err(error),
    }
    audit::record(tx, scope, act).await?;
    Ok(FireRecord {
        due_at: found.now,
        outcome: Outcome::Fired,
        kind: FireKind::Trigger,
        fired_at: found.now,
        task: made.task(),
        run: made.run(),
        version: found.version,
        detail: None,
    })
}
