//! Tasks that run until they are completed, and now end otherwise: their cap is over, or they were cancelled.

use super::spec;
use super::transition::{EndedAttempt, end_lease_in};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::{
    AttemptEnd, AttemptOutcome, Event, LeaseKey, RetryDecision, RetryOn, RetryPolicy, decide_retry,
};
use domain::time::format_duration;
use std::time::Duration;

/// What was found, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndedCalls {
    /// Tasks that were read.
    pub read: u64,
    /// Attempts that ended.
    pub ended: u64,
}

struct Due {
    lease: LeaseKey,
    cancelling: bool,
    failures: u32,
    max_attempts: u32,
    cap: Duration,
    retry: Option<RetryPolicy>,
}

impl Due {
    fn end(&self, unit: f64) -> (Event, Duration, EndedAttempt) {
        let bare = |outcome, reason: &str| EndedAttempt::bare(self.lease, outcome, reason);
        if self.cancelling {
            let ended = bare(AttemptOutcome::Stopped, "stopped on request");
            return (Event::Stopped, Duration::ZERO, ended);
        }
        let cap = format_duration(self.cap);
        let reason = format!("was not completed within its execution cap of {cap}");
        let ended = bare(AttemptOutcome::KilledCap, &reason);
        let policy = self.retry.clone().unwrap_or_default();
        let end = AttemptEnd { how: RetryOn::Cap, exit_code: None, signal: None };
        let (event, wait) =
            match decide_retry(&policy, self.failures + 1, self.max_attempts, end, unit) {
                RetryDecision::After(wait) => (Event::AttemptFailed, wait),
                RetryDecision::Exhausted => (Event::AttemptsExhausted, Duration::ZERO),
                RetryDecision::Abort => (Event::AttemptAborted, Duration::ZERO),
                RetryDecision::Killed => (Event::AttemptKilled, Duration::ZERO),
            };
        (event, wait, ended)
    }
}

/// Ends at most `limit` of them, each alone; concurrent calls end each once. `unit` returns random numbers in 0.0..1.0. Wake the batcher
/// and the schedulers.
///
/// # Errors
/// When the database cannot answer; what ended before stays so.
pub async fn end_called(
    db: &SchedulerDb,
    limit: i64,
    mut unit: impl FnMut() -> f64,
) -> Result<EndedCalls, StoreError> {
    let query = sqlx::query!(
        r#"select t.tenant_id as "tenant_id!", t.id as "id!", t.attempt as "attempt!", t.state = 'cancelling' as "cancelling!",
                t.failures as "failures!", t.max_attempts as "max_attempts!", t.cap_ms as "cap_ms!", s.retry as "retry?"
            from (
                (select l.* from task l where l.session_id = $1 and l.wake_at <= now() limit $2)
                union all
                (select l.* from task l where l.session_id = $1 and l.state = 'cancelling' and l.wake_at > now() limit $2)
            ) t
            left join lateral (select f.retry from task_spec f where f.id = t.id limit 1) s on true"#,
        SessionId::CALLED.uuid(),
        limit
    );
    let mut connection = db.pool().acquire().await?;
    let rows = named("called.due", query.fetch_all(&mut *connection)).await?;
    let mut found = EndedCalls { read: rows.len() as u64, ended: 0 };
    for row in rows {
        let due = Due {
            lease: LeaseKey {
                tenant: TenantId(row.tenant_id),
                task: TaskId(row.id),
                attempt: row.attempt.unsigned_abs(),
                session: SessionId::CALLED,
            },
            cancelling: row.cancelling,
            failures: row.failures.unsigned_abs(),
            max_attempts: row.max_attempts.unsigned_abs(),
            cap: Duration::from_millis(row.cap_ms.unsigned_abs()),
            retry: spec::retry(row.retry.as_deref()),
        };
        let (event, wait, ended) = due.end(unit());
        let answer = end_lease_in(&mut connection, event, &ended, wait).await?;
        found.ended += u64::from(answer.moved_to().is_some());
    }
    Ok(found)
}
