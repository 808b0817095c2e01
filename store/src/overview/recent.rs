//! How the newest finished tasks of a tenant went.
//!
//! The rule: the index of a tenant's history is read backwards, until there are enough. A planner that knows nothing of a table (it is
//! new) sorts the few rows that it takes to be there.

use crate::statement::patient;
use crate::task::first_id_of;
use crate::{StoreError, TenantScope};
use chrono::TimeDelta;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// Finished tasks that are looked at, at most.
pub const MOST_RECENT: u32 = 1_000;
/// Finished tasks are looked at that were created within so many hours.
const RECENT_HOURS: i64 = 24;

/// How the newest finished tasks went: of the last day, [`MOST_RECENT`] at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recent {
    /// They were created from then on.
    pub since: Timestamp,
    /// How many there are.
    pub tasks: u64,
    /// Of these, those that succeeded.
    pub succeeded: u64,
    /// Of these, those that failed, were aborted, killed, or expired.
    pub failed: u64,
    /// Of these, those that started once. Retries start later than the first attempt, and are in none of the figures below.
    pub started: u64,
    /// Of these, those that started before their start deadline.
    pub on_time: u64,
    /// Milliseconds from when they were due to their start: p50, p95, p99. `None`: none has started.
    pub wait_ms: Option<[i64; 3]>,
}

/// Reads it.
pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    now: Timestamp,
) -> Result<Recent, StoreError> {
    let since = now - TimeDelta::hours(RECENT_HOURS);
    let query = sqlx::query!(
        r#"select count(*) as "tasks!", count(*) filter (where r.state = 'succeeded') as "succeeded!",
                count(*) filter (where r.state in ('failed', 'aborted', 'killed', 'expired')) as "failed!",
                count(r.wait_ms) as "started!", count(*) filter (where r.wait_ms is not null and r.on_time) as "on_time!",
                percentile_disc(array[0.5, 0.95, 0.99]) within group (order by r.wait_ms) as "wait_ms?"
            from (
                select h.state, h.first_started_at <= h.start_deadline as on_time,
                    case when h.attempt = 1 then
                        greatest(extract(epoch from h.first_started_at - h.run_at) * 1000, 0)::bigint end as wait_ms
                from task_history h
                where h.tenant_id = $1 and h.id >= $2 and h.finished_at >= $3
                order by h.id desc limit $4) r"#,
        scope.tenant().uuid(),
        first_id_of(since),
        since,
        i64::from(MOST_RECENT)
    );
    let row = patient("overview.recent", query.fetch_optional(tx)).await?;
    let row = row.ok_or(sqlx::Error::RowNotFound)?;
    Ok(Recent {
        since,
        tasks: row.tasks.unsigned_abs(),
        succeeded: row.succeeded.unsigned_abs(),
        failed: row.failed.unsigned_abs(),
        started: row.started.unsigned_abs(),
        on_time: row.on_time.unsigned_abs(),
        wait_ms: row.wait_ms.and_then(|all| all.try_into().ok()),
    })
}
