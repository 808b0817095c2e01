//! Reads the live leases of sessions: of one when a resource manager adopts it, of several when results of earlier ones come.
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use crate::task::spec;
use domain::id::{SessionId, TaskId, TenantId};
use domain::resources::Resources;
use domain::target::{ORIGIN_BYTES, origin_of_run};
use domain::task::{LeaseKey, RetryPolicy};
use std::time::Duration;

/// A live lease with what settling it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveLease {
    /// The lease.
    pub key: LeaseKey,
    /// Number of the assignment within the session.
    pub assignment: u64,
    /// What it holds.
    pub resources: Resources,
    /// First of its ports.
    pub port_first: u32,
    /// Room it takes, in basic tasks.
    pub slots: u32,
    /// Charged failures before this attempt.
    pub failures: u32,
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// Its retry policy; `None` is the default policy.
    pub retry: Option<RetryPolicy>,
    /// What it calls, where that is known.
    pub target: Option<String>,
    /// W3C traceparent of the submit.
    pub traceparent: Option<String>,
    /// A lost attempt ends the task.
    pub at_most_once: bool,
    /// How long it may run.
    pub cap: Duration,
    /// True once its owner asked to stop it.
    pub cancelling: bool,
}

/// All live leases of `sessions`. To know all there will be, call it after a session's epoch was raised and committed: then
/// no other owner can add to them.
///
/// # Errors
/// When the database cannot answer.
pub async fn live(db: &RmDb, sessions: &[SessionId]) -> Result<Vec<LiveLease>, StoreError> {
    let sessions: Vec<_> = sessions.iter().map(|session| session.uuid()).collect();
    let query = sqlx::query!(
        r#"select t.tenant_id, t.id, t.attempt, t.session_id as "session_id!", t.assignment as "assignment!", t.cpu_millis, t.memory_mib, t.disk_mib,
                t.iops, t.ports, coalesce(t.port_first, 0) as "port_first!", t.slots, t.failures, t.max_attempts,
                t.at_most_once, t.cap_ms, t.state = 'cancelling' as "cancelling!", s.retry as "retry?", s.run as "run?",
                s.traceparent as "traceparent?"
            from task t
            left join lateral (select f.retry, left(f.run, $2) as run, f.traceparent from task_spec f where f.id = t.id limit 1) s on true
            where t.session_id = any ($1) and t.wake_at is not null
            order by t.assignment"#,
        &sessions,
        ORIGIN_BYTES as i32
    );
    let rows = named("lease.live", query.fetch_all(db.pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| LiveLease {
            key: LeaseKey {
                tenant: TenantId(row.tenant_id),
                task: TaskId(row.id),
                attempt: row.attempt.unsigned_abs(),
                session: SessionId(row.session_id),
            },
            assignment: row.assignment.unsigned_abs(),
            resources: Resources::from_dimensions(
                [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports]
                    .map(i32::unsigned_abs),
            ),
            port_first: row.port_first.unsigned_abs(),
            slots: row.slots.unsigned_abs(),
            failures: row.failures.unsigned_abs(),
            max_attempts: row.max_attempts.unsigned_abs(),
            retry: spec::retry(row.retry.as_deref()),
            target: row.run.as_deref().and_then(origin_of_run),
            traceparent: row.traceparent,
            at_most_once: row.at_most_once,
            cap: Duration::from_millis(row.cap_ms.unsigned_abs()),
            cancelling: row.cancelling,
        })
        .collect())
}
