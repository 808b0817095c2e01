//! Fires a schedule now, because somebody asks: whatever its times, pause and overlap say.

use super::make::{Maker, task};
use super::record::{FireKind, FireRecord, read_template, read_text};
use crate::audit::{self, Act, AuditAction};
use crate::connect::SubmitDb;
use crate::idempotency::{IdempotencyKey, Once, answered_before, put_answer};
use crate::statement::{named, repeated};
use crate::task::submit::{SubmitAnswer, in_transaction};
use crate::{StoreError, TenantScope};
use domain::id::{PoolName, ScheduleId, TaskId};
use domain::schedule::{Outcome, TaskTemplate};
use domain::time::Timestamp;
use serde_json::json;
use sqlx::PgConnection;
use std::time::Duration;

/// What became of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerAnswer {
    /// It made this fire, with a task.
    Fired(FireRecord),
    /// A task of the template's unique key lives.
    Existing(TaskId),
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
        if !admits(&found.template.pool) {
            return Ok(Once::Done(TriggerAnswer::NoPool(found.template.pool)));
        }
        let of = Maker {
            tenant: scope.tenant(),
            schedule: found.id,
            name,
            overlap: found.overlap,
            template: &found.template,
            key_id: by,
        };
        let made = task(of, TaskId::fresh(), found.now, Duration::ZERO);
        let id = made.id;
        match in_transaction(&mut tx, &[made]).await?.first() {
            Some(SubmitAnswer::Created(_)) => {}
            Some(SubmitAnswer::Existing(task)) => {
                return Ok(Once::Done(TriggerAnswer::Existing(*task)));
            }
            // It has no idempotency key.
            _ => return Err(StoreError::Contended),
        }
        write(&mut tx, scope, &found, id).await?;
        let due_at = found.now;
        let act = Act::new(AuditAction::ScheduleTrigger, name).to(json!({"task": id}));
        audit::record(&mut tx, scope, act).await?;
        let fire = FireRecord {
            due_at,
            outcome: Outcome::Fired,
            kind: FireKind::Trigger,
            fired_at: due_at,
            task: Some(id),
            version: found.version,
            detail: None,
        };
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
    template: TaskTemplate,
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

/// Writes the fire, due now, and adds its task to the schedule's.
async fn write(
    tx: &mut PgConnection,
    scope: &TenantScope,
    found: &LockedSchedule,
    task: TaskId,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with made as (
                insert into schedule_fire (tenant_id, schedule_id, due_at, outcome, kind, fired_at, task_id, version)
                values ($1, $2, $5, 'fired', 'trigger', $5, $3, $4)
            )
            update schedule set recent = recent[greatest(1, cardinality(recent) - 30):] || $3::uuid where id = $2",
        scope.tenant().uuid(),
        found.id.uuid(),
        task.uuid(),
        found.version,
        found.now
    );
    match named("schedule.trigger", query.execute(tx)).await {
        Ok(_) => Ok(()),
        // A due time of this very microsecond.
        Err(error) if error.sqlstate().as_deref() == Some("23505") => Err(StoreError::Contended),
        Err(error) => Err(error),
    }
}
