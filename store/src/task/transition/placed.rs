//! `placed`: queued tasks get a lease each, with the next attempt number.
//!
//! One statement locks the sessions `for share` in id order, checks that the caller still owns each
//! under its epoch, moves the tasks, and returns what they run. A hint of an old dispatch finds no row.

use super::change::change_tasks;
use super::dispatch_undone::epoch_column;
use crate::StoreError;
use crate::connect::RmDb;
use crate::own::on_own;
use crate::rows::row_of;
use crate::statement::repeated;
use crate::task::spec;
use domain::epoch::Epoch;
use domain::id::{NodeId, SessionId, TaskId, TenantId};
use domain::task::{Dispatch, LeaseKey, RetryPolicy, State, StoredRun};
use domain::time::{Timestamp, millis};
use std::time::Duration;
use uuid::Uuid;

/// One placement in memory, to be made true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The dispatch its hint named.
    pub dispatch: Dispatch,
    /// On which session.
    pub session: SessionId,
    /// Running number within the session.
    pub assignment: u64,
    /// First of its ports.
    pub port_first: u32,
}

/// A row of `placement`, in the order of its columns.
#[derive(sqlx::Encode)]
struct PlacementRow {
    tenant_id: Uuid,
    id: Uuid,
    dispatch_epoch: i32,
    session_id: Uuid,
    assignment: i64,
    port_first: i32,
}
row_of!("placement": PlacementRow);

impl From<&Claim> for PlacementRow {
    fn from(claim: &Claim) -> Self {
        Self {
            tenant_id: claim.dispatch.tenant.uuid(),
            id: claim.dispatch.task.uuid(),
            dispatch_epoch: epoch_column(&claim.dispatch),
            session_id: claim.session.uuid(),
            assignment: i64::try_from(claim.assignment).unwrap_or(i64::MAX),
            port_first: i32::try_from(claim.port_first).unwrap_or(0),
        }
    }
}

/// A session the caller believes to own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEpoch {
    /// The session.
    pub session: SessionId,
    /// Under this epoch.
    pub epoch: Epoch,
}

/// A lease that was granted, and what it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The lease.
    pub lease: LeaseKey,
    /// As claimed.
    pub assignment: u64,
    /// What it runs.
    pub run: StoredRun,
    /// Its retry policy; `None` is the default policy.
    pub retry: Option<RetryPolicy>,
    /// How long it may run.
    pub cap: Duration,
    /// Charged failures so far.
    pub failures: u32,
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// A lost attempt ends the task.
    pub at_most_once: bool,
    /// Trace of the submit.
    pub traceparent: Option<String>,
    /// The due time it is for; see [`crate::task::TaskRecord::due_at`]. `None` where the spec is gone.
    pub due_at: Option<Timestamp>,
    /// Name of the schedule that made it.
    pub schedule_name: Option<String>,
    /// How long it was due before it was placed, in ms.
    pub waited_ms: i64,
}

/// Grants what can be granted of `claims`; what is missing in the answer was stale, or its session is
/// not the caller's any more. `grace` is added to the cap for the hard end of the lease.
///
/// # Errors
/// When the database cannot answer: then nothing is known, and the session's leases are to be read again.
pub async fn placed(
    db: &RmDb,
    owner: NodeId,
    sessions: &[SessionEpoch],
    claims: &[Claim],
    grace: Duration,
) -> Result<Vec<Placed>, StoreError> {
    let mut sorted: Vec<&Claim> = claims.iter().collect();
    sorted.sort_unstable_by_key(|c| (c.dispatch.tenant, c.dispatch.task));
    // A session named twice counts as named once, under its first epoch.
    let session_ids: Vec<_> = sessions.iter().map(|s| s.session.uuid()).collect();
    let epochs: Vec<i64> = sessions.iter().map(|s| s.epoch.0).collect();
    let rows: Vec<PlacementRow> = sorted.into_iter().map(PlacementRow::from).collect();
    let ids = || rows.iter().map(|row| row.id);
    let placed = repeated(|| async {
        let query = change_tasks!(
            "with held as materialized (
                    select s.id from executor_session s
                    where s.id = any ($2::uuid[]) and s.owner = $1
                        and s.owner_epoch = ($3::bigint[])[array_position($2::uuid[], s.id)]
                        and s.state = 'active' and s.expires_at > clock_timestamp()
                    order by s.id for share
                ), claimed as (
                    update task t set state = 'running', attempt = t.attempt + 1, session_id = i.session_id,
                        assignment = i.assignment, port_first = i.port_first, placed_at = now(), prepaid = false,
                        first_started_at = coalesce(t.first_started_at, now()),
                        wake_at = now() + (t.cap_ms + $5) * interval '1 millisecond'
                    from unnest($4::placement[]) i
                    where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                        and t.state = $6::text::task_state and t.dispatch_epoch = i.dispatch_epoch
                        and i.session_id = any (array(select h.id from held h))
                        and not (t.expire_if_late and t.first_started_at is null and t.start_deadline < now())
                    returning t.tenant_id, t.id, t.attempt, t.session_id, t.assignment, t.cap_ms, t.failures, t.max_attempts,
                        t.at_most_once, t.run_at, t.state
                )",
            changes: "select tenant_id, id, attempt, state, null, null::integer, null::uuid from claimed",
            answer: r#"select c.tenant_id, c.id, c.attempt, c.session_id as "session_id!", c.assignment as "assignment!", c.cap_ms,
                    c.failures, c.max_attempts, c.at_most_once,
                    (extract(epoch from now() - c.run_at) * 1000)::bigint as "waited_ms!",
                    coalesce(s.run, '') as "run!", s.retry as "retry?", s.traceparent as "traceparent?",
                    s.due_at as "due_at?", s.schedule_name as "schedule_name?"
                from claimed c
                -- The bounds leave the days out that no claim is of, before any of their partitions is looked at.
                left join lateral (select f.run, f.retry, f.traceparent, f.schedule_name,
                        coalesce(f.due_at, f.run_at) as due_at
                    from task_spec f
                    where f.id = c.id and f.id >= $7 and f.id <= $8 limit 1) s on true"#,
            owner.uuid(),
            &session_ids,
            &epochs,
            &rows as &[PlacementRow],
            millis(grace),
            State::Queued.as_str(),
            ids().min(),
            ids().max()
        );
        let rows = on_own!(db.placing(), "placed", query.fetch_all);
        Ok(rows)
    })
    .await?;
    Ok(placed
        .into_iter()
        .map(|row| Placed {
            lease: LeaseKey {
                tenant: TenantId(row.tenant_id),
                task: TaskId(row.id),
                attempt: row.attempt.unsigned_abs(),
                session: SessionId(row.session_id),
            },
            assignment: row.assignment.unsigned_abs(),
            run: StoredRun::read(row.run),
            retry: spec::retry(row.retry.as_deref()),
            cap: Duration::from_millis(row.cap_ms.unsigned_abs()),
            failures: row.failures.unsigned_abs(),
            max_attempts: row.max_attempts.unsigned_abs(),
            at_most_once: row.at_most_once,
            traceparent: row.traceparent,
            due_at: row.due_at,
            schedule_name: row.schedule_name,
            waited_ms: row.waited_ms,
        })
        .collect())
}
