//! The attempts of a task: those that ended, and the one that runs.

use crate::connect::ApiDb;
use crate::statement::patient;
use crate::task::executor_of;
use crate::{StoreError, TenantScope};
use domain::id::{ExecutorId, TaskId};
use domain::task::AttemptOutcome;
use domain::time::Timestamp;

/// One try of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// 1 upwards, dense.
    pub attempt: u32,
    /// `None` while it runs.
    pub outcome: Option<AttemptOutcome>,
    /// False where it was lost to infrastructure: it costs nothing.
    pub charged: bool,
    /// The executor's name.
    pub executor: Option<ExecutorId>,
    /// When it got its lease.
    pub placed_at: Timestamp,
    /// When its lease ended.
    pub ended_at: Option<Timestamp>,
    /// Billed time in ms.
    pub usage_ms: i64,
    /// Where it exited by itself.
    pub exit_code: Option<i32>,
    /// Where a signal ended it.
    pub signal: Option<i32>,
    /// A sentence for people.
    pub reason: Option<String>,
    /// Bytes written to standard output, stored or not.
    pub stdout_bytes: i64,
    /// Bytes written to standard error, stored or not.
    pub stderr_bytes: i64,
    /// Some of its output was not stored, because the plan's quota was used up.
    pub output_over_quota: bool,
}

/// Attempts after number `after`, in order, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    after: u32,
    limit: u32,
) -> Result<Vec<AttemptRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select a.attempt as "attempt!", a.outcome as "outcome?", a.charged as "charged!", 
                (select s.executor_id from executor_session s where s.id = a.session_id) as "executor?",
                a.placed_at as "placed_at!", a.ended_at as "ended_at?", a.usage_ms as "usage_ms!", a.exit_code as "exit_code?",
                a.signal as "signal?", a.reason as "reason?", a.stdout_bytes as "stdout_bytes!", a.stderr_bytes as "stderr_bytes!",
                exists (select from output_refused r where r.tenant_id = $1 and r.task_id = $2 and r.attempt = a.attempt)
                    as "output_over_quota!"
            from (
                select attempt, outcome, charged, session_id, placed_at, ended_at, usage_ms, exit_code, signal, reason,
                    stdout_bytes, stderr_bytes
                from attempt where tenant_id = $1 and task_id = $2 and attempt > $3
                union all
                select attempt, null, true, coalesce((called).session, session_id), placed_at, null, coalesce((called).ran_ms, 0),
                    (called).exit_code, null, null, coalesce((called).stdout, 0), coalesce((called).stderr, 0)
                from task where tenant_id = $1 and id = $2 and attempt > $3 and session_id is not null
            ) a
            order by a.attempt limit $4"#,
        scope.tenant().uuid(),
        task.uuid(),
        i32::try_from(after).unwrap_or(i32::MAX),
        i64::from(limit)
    );
    let rows = patient("attempt.list", query.fetch_all(&mut *tx)).await?;
    let attempts = rows.into_iter().map(|row| {
        Ok(AttemptRecord {
            attempt: row.attempt.unsigned_abs(),
            outcome: row.outcome.and_then(|outcome| outcome.parse().ok()),
            charged: row.charged,
            executor: executor_of(task, row.executor)?,
            placed_at: row.placed_at,
            ended_at: row.ended_at,
            usage_ms: row.usage_ms,
            exit_code: row.exit_code,
            signal: row.signal,
            reason: row.reason,
            stdout_bytes: row.stdout_bytes,
            stderr_bytes: row.stderr_bytes,
            output_over_quota: row.output_over_quota,
        })
    });
    attempts.collect()
}
