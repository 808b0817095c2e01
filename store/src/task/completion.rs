//! Completes an attempt whose call was taken on: by who has its token.
//!
//! Under the lease, like a result of an executor: what comes late, or after another end, changes nothing. It may come before the answer to
//! the call has; then it ends the lease of the executor, whose report is stale.

use super::spec;
use super::transition::{EndedAttempt, end_lease_in};
use crate::connect::ApiDb;
use crate::statement::{named, patient, repeated};
use crate::{StoreError, TenantScope};
use domain::id::{SessionId, TaskId};
use domain::task::{
    AttemptEnd, AttemptOutcome, Event, LeaseKey, ResultValue, RetryDecision, RetryOn, State,
    decide_retry,
};
use sqlx::PgConnection;
use std::time::Duration;

/// How an attempt ended, as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// It did what it was asked, and returned this.
    Succeeded(Option<ResultValue>),
    /// It failed; its retry policy decides.
    Failed {
        /// Why, for people.
        reason: String,
        /// No other attempt before that time.
        retry_after: Option<Duration>,
    },
    /// It failed, and no other attempt is worth it.
    Aborted {
        /// Why, for people.
        reason: String,
    },
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionAnswer {
    /// It counts; the state that the task is in now.
    Completed(State),
    /// The attempt had ended so before.
    Repeated,
    /// The attempt had ended otherwise.
    Over,
}

/// The lease of an attempt as it was granted, whether it stands or is over; `None` where there was none.
///
/// # Errors
/// When the database cannot answer.
pub async fn granted(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    attempt: u32,
) -> Result<Option<LeaseKey>, StoreError> {
    let mut tx = super::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        r#"select coalesce(
                (select coalesce((t.called).session, t.session_id) from task t
                    where t.tenant_id = $1 and t.id = $2 and t.attempt = $3 limit 1),
                (select a.session_id from attempt a where a.tenant_id = $1 and a.task_id = $2 and a.attempt = $3 limit 1))"#,
        scope.tenant().uuid(),
        task.uuid(),
        i32::try_from(attempt).unwrap_or(0)
    );
    let session = patient("completion.granted", query.fetch_one(&mut *tx)).await?;
    let lease = |session| LeaseKey { tenant: scope.tenant(), task, attempt, session };
    Ok(session.map(SessionId).map(lease))
}

/// Ends the attempt of `lease`. `unit` is a random number in 0.0..1.0, for the wait before another attempt. Wake the batcher and the
/// schedulers.
///
/// # Errors
/// When the database cannot answer; then nothing changed, unless [`StoreError::outcome_unknown`] says otherwise.
pub async fn complete(
    db: &ApiDb,
    scope: &TenantScope,
    lease: LeaseKey,
    completion: &Completion,
    unit: f64,
) -> Result<CompletionAnswer, StoreError> {
    repeated(|| async {
        let mut tx = super::scoped(db, scope).await?;
        let Some(stands) = standing(&mut tx, lease).await? else {
            return stale(&mut tx, lease, completion.outcome()).await;
        };
        let (event, wait) = stands.event(completion, unit);
        let ended = completion.ended(LeaseKey { session: stands.session, ..lease });
        let answer = end_lease_in(&mut tx, event, &ended, wait).await?;
        // It is locked, so it moves; to begin again is right if it does not.
        let state = answer.moved_to().ok_or(StoreError::Contended)?;
        named("commit", tx.commit()).await?;
        Ok(CompletionAnswer::Completed(state))
    })
    .await
}

impl Completion {
    const fn outcome(&self) -> AttemptOutcome {
        match self {
            Self::Succeeded(_) => AttemptOutcome::Succeeded,
            Self::Failed { .. } | Self::Aborted { .. } => AttemptOutcome::Failed,
        }
    }

    /// What is written of it. The executor's part is known where its call was answered; else the attempt took its executor until now.
    fn ended(&self, lease: LeaseKey) -> EndedAttempt {
        let (reason, value) = match self {
            Self::Succeeded(value) => (None, value.clone()),
            Self::Failed { reason, .. } | Self::Aborted { reason } => (Some(reason.clone()), None),
        };
        let bare = EndedAttempt::bare(lease, self.outcome(), "");
        EndedAttempt { ran_ms: u64::MAX, reason, value, ..bare }
    }
}

/// A lease that stands, with what an end of it needs.
struct Standing {
    /// Under which session now.
    session: SessionId,
    failures: u32,
    max_attempts: u32,
    retry: Option<domain::task::RetryPolicy>,
}

impl Standing {
    fn event(&self, completion: &Completion, unit: f64) -> (Event, Duration) {
        let at_once = |event| (event, Duration::ZERO);
        match completion {
            Completion::Succeeded(_) => at_once(Event::Completed),
            Completion::Aborted { .. } => at_once(Event::AttemptAborted),
            Completion::Failed { retry_after, .. } => {
                let policy = self.retry.clone().unwrap_or_default();
                let end = AttemptEnd { how: RetryOn::Failure, exit_code: None, signal: None };
                let failures = self.failures + 1;
                let decision = decide_retry(&policy, failures, self.max_attempts, end, unit);
                match decision.not_before(*retry_after) {
                    RetryDecision::After(wait) => (Event::AttemptFailed, wait),
                    RetryDecision::Exhausted => at_once(Event::AttemptsExhausted),
                    RetryDecision::Abort => at_once(Event::AttemptAborted),
                    RetryDecision::Killed => at_once(Event::AttemptKilled),
                }
            }
        }
    }
}

/// Locks the task where this lease of it stands.
async fn standing(tx: &mut PgConnection, lease: LeaseKey) -> Result<Option<Standing>, StoreError> {
    let query = sqlx::query!(
        r#"select t.session_id as "session_id!", t.failures, t.max_attempts, s.retry as "retry?"
            from task t
            left join lateral (select f.retry from task_spec f where f.id = $2 limit 1) s on true
            where t.tenant_id = $1 and t.id = $2 and t.attempt = $3 and coalesce((t.called).session, t.session_id) = $4
            for update of t"#,
        lease.tenant.uuid(),
        lease.task.uuid(),
        i32::try_from(lease.attempt).unwrap_or(0),
        lease.session.uuid()
    );
    let row = named("completion.lock", query.fetch_optional(tx)).await?;
    Ok(row.map(|row| Standing {
        session: SessionId(row.session_id),
        failures: row.failures.unsigned_abs(),
        max_attempts: row.max_attempts.unsigned_abs(),
        retry: spec::retry(row.retry.as_deref()),
    }))
}

/// The lease is over: whether with this outcome.
async fn stale(
    tx: &mut PgConnection,
    lease: LeaseKey,
    outcome: AttemptOutcome,
) -> Result<CompletionAnswer, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select true as "same!" from attempt a where a.tenant_id = $1 and a.task_id = $2 and a.attempt = $3 and a.session_id = $4
            and a.outcome = $5 limit 1"#,
        lease.tenant.uuid(),
        lease.task.uuid(),
        i32::try_from(lease.attempt).unwrap_or(0),
        lease.session.uuid(),
        outcome.as_str()
    );
    let same = named("completion.stands", query.fetch_optional(tx)).await?;
    Ok(if same.is_some() { CompletionAnswer::Repeated } else { CompletionAnswer::Over })
}
