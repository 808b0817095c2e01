//! Starts a run: the run, its tasks and what they wait for are stored together.

use super::make::NewRun;
use crate::audit::{self, Act, AuditAction};
use crate::connect::SubmitDb;
use crate::idempotency::{Begun, IdempotencyKey, put_answer, take};
use crate::statement::{named, repeated};
use crate::task::submit::{SubmitAnswer, in_transaction};
use crate::{StoreError, TenantScope};
use domain::id::{TaskId, TenantId};
use domain::time::{Timestamp, millis};
use serde_json::json;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What became of a run that was to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartAnswer {
    /// It is started; the answer as rendered.
    Started(Vec<u8>),
    /// The same request started one before: its answer.
    Replayed(Vec<u8>),
    /// The idempotency key was used with another body.
    KeyReused,
    /// The tenant has reached its limit of runs that have not ended.
    QuotaReached,
    /// Of a re-run: these tasks of the run before are in no history any more.
    Forgotten(Vec<TaskId>),
}

/// Starts `run`, where the tenant has fewer than `most.0` that have not ended. It may come to have `most.1` tasks. `render` makes the answer
/// of the time at which it was stored. Wake the batcher and the schedulers then.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether it may have been stored.
pub async fn start(
    db: &SubmitDb,
    (scope, key): (&TenantScope, Option<&IdempotencyKey>),
    run: &NewRun,
    most: (u64, i64),
    render: impl Fn(Timestamp) -> Vec<u8>,
) -> Result<StartAnswer, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        if let Some(key) = key {
            match take(&mut tx, scope, key).await? {
                Begun::Fresh => {}
                Begun::Replayed { body, .. } => return Ok(StartAnswer::Replayed(body)),
                Begun::KeyReused => return Ok(StartAnswer::KeyReused),
                // Its row and its answer are committed together, so this cannot be seen; trying again is right if it is.
                Begun::Unfinished => return Err(StoreError::Contended),
            }
        }
        if unfinished(&mut tx, scope.tenant(), most.0).await? >= most.0 {
            return Ok(StartAnswer::QuotaReached);
        }
        let (stored_at, forgotten) = start_in(&mut tx, run, most.1).await?;
        if !forgotten.is_empty() {
            return Ok(StartAnswer::Forgotten(forgotten));
        }
        let workflow = run.of.workflow.as_ref().map(|(name, _)| name);
        let again = run.rerun_of.map(|(id, _)| id);
        let act = Act::new(AuditAction::WorkflowRunStart, run.id);
        let act =
            act.to(json!({"workflow": workflow, "nodes": run.nodes.len(), "rerun_of": again}));
        audit::record(&mut tx, scope, act).await?;
        let body = render(stored_at);
        if let Some(key) = key {
            put_answer(&mut tx, scope, key, 201, &body).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(StartAnswer::Started(body))
    })
    .await
}

/// Stores `run`, which may come to have `most` tasks: when, and of a re-run the tasks of the run before that are in no history any more.
pub(crate) async fn start_in(
    tx: &mut PgConnection,
    run: &NewRun,
    most: i64,
) -> Result<(Timestamp, Vec<TaskId>), StoreError> {
    let stored_at = insert(&mut *tx, run, most).await?;
    let mut forgotten = Vec::new();
    for answer in in_transaction(tx, &run.tasks).await? {
        if let SubmitAnswer::UnknownParents(unknown) = answer {
            forgotten.extend(unknown);
        }
    }
    Ok((stored_at, forgotten))
}

/// Runs of the tenant that have not ended, up to `most`. Only the caller starts one until its transaction ends. Whoever locks the row of a
/// schedule, too, does that before.
pub(crate) async fn unfinished(
    tx: &mut PgConnection,
    tenant: TenantId,
    most: u64,
) -> Result<u64, StoreError> {
    let lock = sqlx::query_scalar!(
        r#"select true as "locked!" from pg_advisory_xact_lock(hashtextextended('workflow runs ' || $1::text, 0))"#,
        tenant.to_string()
    );
    named("run.lock_all", lock.fetch_one(&mut *tx)).await?;
    let query = sqlx::query_scalar!(
        r#"select count(*) as "held!" from (
                select from workflow_run r where r.tenant_id = $1 and r.finished_at is null limit $2) held"#,
        tenant.uuid(),
        i64::try_from(most).unwrap_or(i64::MAX)
    );
    named("run.count", query.fetch_one(tx)).await.map(i64::unsigned_abs)
}

async fn insert(tx: &mut PgConnection, run: &NewRun, most: i64) -> Result<Timestamp, StoreError> {
    let NewRun { id, of, nodes, tasks, rerun_of, fire_task, is_counted } = run;
    let total = i64::try_from(tasks.len()).unwrap_or(i64::MAX);
    let fired = of.fired.as_ref();
    let nodes: Vec<Uuid> = nodes.iter().map(|task| task.uuid()).collect();
    let labels: &BTreeMap<_, _> = &of.plan.labels;
    let labels = (!labels.is_empty()).then(|| serde_json::to_string(labels).unwrap_or_default());
    let query = sqlx::query_scalar!(
        "insert into workflow_run (tenant_id, id, workflow, version, state, plan, input, tasks, total, most, labels, deadline_at, rerun_of,
                tasks_since, started_by, schedule_id, schedule_name, due_at, counted_by, fire_task)
            values ($1, $2, $3, $4, 'running', $5, $6, $7, $8, greatest($9::bigint, $8), $10::text::jsonb, now() + $11 * interval '1 millisecond',
                $12, coalesce($13, now()), $14, $15::uuid, $16, $17, case when $18 then $15::uuid end, $19)
            returning created_at",
        of.tenant.uuid(),
        id.uuid(),
        of.workflow.as_ref().map(|(name, _)| name.as_str()),
        of.workflow.as_ref().map(|(_, version)| *version),
        serde_json::to_string(&of.plan).unwrap_or_default(),
        of.input.as_deref(),
        &nodes,
        total,
        most,
        labels,
        of.plan.deadline.map(|deadline| millis(deadline) as f64),
        rerun_of.map(|(id, _)| id.uuid()),
        rerun_of.map(|(_, since)| since),
        of.started_by,
        fired.map(|fired| fired.schedule.uuid()),
        fired.map(|fired| fired.name.as_str()),
        fired.map(|fired| fired.due_at),
        is_counted,
        fire_task.map(TaskId::uuid)
    );
    let stored_at = named("run.start", query.fetch_optional(&mut *tx)).await?;
    let stored_at = stored_at.ok_or(StoreError::Contended)?;
    if let Some(parallel) = of.plan.max_parallel {
        let query = sqlx::query!(
            "insert into concurrency_limit (tenant_id, key, running) values ($1, $2, $3)",
            of.tenant.uuid(),
            id.to_string(),
            i32::try_from(parallel).unwrap_or(i32::MAX)
        );
        named("run.limit", query.execute(tx)).await?;
    }
    Ok(stored_at)
}
