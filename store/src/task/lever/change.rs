//! `change`: fields of a task that does not run yet.
//!
//! The change was made of a version of the task, and counts only in that version. Nothing that was begun with the old fields goes on: the
//! task is locked, a queued one leaves the broker, and whoever places it later reads what was committed here.

use super::TaskChange;
use super::standing::{Standing, standing};
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::spend::CapRefusal;
use crate::statement::{named, repeated};
use crate::task::get::get_in;
use crate::task::record::TaskRecord;
use crate::task::reserve::reserve_again;
use crate::task::spec::JsonText;
use crate::task::transition::{postponed_in, recalled_in, run_now_in};
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::task::{Effect, Event, Labels, Lever, NewTime, Refusal, Run, event_of_change};
use domain::time::{Timestamp, millis};
use sqlx::PgConnection;

/// What became of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeAnswer {
    /// The task is so now.
    Changed(Box<TaskRecord>),
    /// The task is in another version.
    VersionMismatch {
        /// In which.
        version: i64,
    },
    /// Not fewer attempts than have failed already.
    TooFewAttempts {
        /// How many that are.
        failures: u32,
    },
    /// A spend cap has no room for what it can cost then.
    OverCap(Box<CapRefusal>),
    /// Nothing was done.
    Refused(Refusal),
    /// This tenant has no such task.
    NotFound,
}

/// Changes a task that is in `version`. Wake the batcher (`Topic::Batcher`) when it is ready then, and the schedulers
/// (`Topic::ShardOwner`) when its time changed.
///
/// # Errors
/// When the database cannot answer; then nothing changed, unless [`StoreError::outcome_unknown`] says otherwise.
pub async fn change(
    db: &ApiDb,
    scope: &TenantScope,
    (task, version): (TaskId, i64),
    change: &TaskChange,
) -> Result<ChangeAnswer, StoreError> {
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        let Some(stood) = standing(&mut tx, scope, task).await? else {
            return Ok(ChangeAnswer::NotFound);
        };
        if let Err(refusal) = Effect::of(Lever::Change, stood.state) {
            return Ok(ChangeAnswer::Refused(refusal));
        }
        if stood.is_held {
            return Ok(ChangeAnswer::Refused(Refusal::Waiting));
        }
        let Some(before) = get_in(&mut tx, scope, task).await? else {
            return Ok(ChangeAnswer::NotFound);
        };
        if before.version != version {
            return Ok(ChangeAnswer::VersionMismatch { version: before.version });
        }
        if change.max_attempts.is_some_and(|most| most <= stood.failures) {
            return Ok(ChangeAnswer::TooFewAttempts { failures: stood.failures });
        }
        let run_at = change.run_at.or_else(|| Some(stood.now + change.delay?));
        write(&mut tx, &before, change, run_at).await?;
        if let Some(refusal) = reserve_again(&mut tx, (scope.tenant(), task)).await? {
            return Ok(ChangeAnswer::OverCap(Box::new(refusal)));
        }
        move_on(&mut tx, &before, stood, run_at).await?;
        let Some(after) = get_in(&mut tx, scope, task).await? else {
            return Ok(ChangeAnswer::NotFound);
        };
        let act = Act::new(AuditAction::TaskChange, task)
            .from(change.shown(&before))
            .to(change.shown(&after));
        audit::record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        Ok(ChangeAnswer::Changed(Box::new(after)))
    })
    .await
}

/// Writes the fields; the state stays. The due time that a task is for changes with its first one only.
async fn write(
    tx: &mut PgConnection,
    before: &TaskRecord,
    change: &TaskChange,
    run_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let (tenant, task) = (before.tenant.uuid(), before.id.uuid());
    let tolerance = change.delay_tolerance.map(millis);
    let priority = change.priority.map(|priority| i16::from(priority.level()));
    let labels = change.labels.as_ref().filter(|labels| !labels.is_empty()).map(JsonText);
    let spec = sqlx::query!(
        "update task_spec s set version = s.version + 1, run_at = coalesce($3, s.run_at), run = coalesce($4, s.run),
                labels = case when $5 then $6::text::jsonb else s.labels end, priority = coalesce($7, s.priority),
                delay_tolerance_ms = coalesce($8, s.delay_tolerance_ms)
            where s.id = $2 and s.tenant_id = $1",
        tenant,
        task,
        run_at.filter(|_| before.attempts == 0),
        change.run.as_ref().map(JsonText) as Option<JsonText<'_, Run>>,
        change.labels.is_some(),
        labels as Option<JsonText<'_, Labels>>,
        priority,
        tolerance
    );
    named("task.change_spec", spec.execute(&mut *tx)).await?;
    let most = change.max_attempts.map(|most| i32::try_from(most).unwrap_or(i32::MAX));
    let row = sqlx::query!(
        "update task t set run_at = coalesce($3, t.run_at),
                start_deadline = coalesce($3, t.run_at) + coalesce($4::bigint * interval '1 millisecond', t.start_deadline - t.run_at),
                cap_ms = coalesce($5, t.cap_ms), max_attempts = coalesce($6, t.max_attempts), priority = coalesce($7, t.priority),
                strand = $8,
                release_delay_ms = case when t.needs is not null and $3 is not null then coalesce($9::bigint, 0) else t.release_delay_ms end,
                -- One that waits for others is not woken by time.
                wake_at = case when t.needs is not null then t.wake_at when t.state in ('scheduled', 'retrying') then coalesce($3, t.wake_at)
                    when t.state = 'ready' and t.expire_if_late and t.first_started_at is null
                        then coalesce($3, t.run_at) + coalesce($4::bigint * interval '1 millisecond', t.start_deadline - t.run_at)
                    else t.wake_at end
            where t.tenant_id = $1 and t.id = $2 and t.session_id is null",
        tenant,
        task,
        run_at,
        tolerance,
        change.execution_cap.map(millis),
        most,
        priority,
        change.strand.0,
        change.delay.map(millis)
    );
    match named("task.change", row.execute(tx)).await?.rows_affected() {
        // It is locked, so this cannot be.
        0 => Err(StoreError::Contended),
        _ => Ok(()),
    }
}

/// Raises the event that goes with the change, if there is one. What waits for others waits on, whatever its time.
async fn move_on(
    tx: &mut PgConnection,
    task: &TaskRecord,
    stood: Standing,
    run_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    if stood.waits {
        return Ok(());
    }
    let time = run_at.map(|at| if at <= stood.now { NewTime::Now } else { NewTime::Later });
    let moved = match event_of_change(stood.state, time) {
        Some(Event::RunNow) => run_now_in(tx, task.tenant, task.id).await?,
        Some(Event::Postponed) => postponed_in(tx, task.tenant, task.id).await?,
        Some(Event::Recalled) => recalled_in(tx, task.tenant, task.id).await?,
        _ => true,
    };
    if moved { Ok(()) } else { Err(StoreError::Contended) }
}
