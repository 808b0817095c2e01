//! `lease_lapsed` and `lease_lapsed_for_good`: the lease ended without a report.
//!
//! From running the task goes to retrying, due at once and charged nothing, or ends failed where it may run at
//! most once; from cancelling it ends cancelled. A lapse is normal (deploys, lost nodes).

use super::TransitionResult;
use super::lease_end::{EndedAttempt, for_good, to_go_on};
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::{AttemptOutcome, Event, LeaseKey};
use sqlx::PgConnection;
use uuid::Uuid;

const GONE: &str = "the executor went away";
const GONE_FOR_GOOD: &str = "the executor went away, and the task may run at most once";

/// A lease that ended without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LapsedLease {
    /// The lease.
    pub key: LeaseKey,
    /// Whether its task may run at most once: then the lapse ends it.
    pub at_most_once: bool,
}

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn lease_lapsed(
    db: &RmDb,
    leases: &[LapsedLease],
) -> Result<Vec<TransitionResult>, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let answers = lapsed(&mut tx, leases).await?;
        named("commit", tx.commit()).await?;
        Ok(answers)
    })
    .await
}

/// Lapses every lease of sessions that the caller's transaction has just ended; says how many.
pub(crate) async fn lease_lapsed_of_sessions(
    tx: &mut PgConnection,
    sessions: &[Uuid],
) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, id, attempt, session_id as "session_id!", at_most_once
            from task where session_id = any ($1) and wake_at is not null"#,
        sessions
    );
    let rows = named("lease.of_sessions", query.fetch_all(&mut *tx)).await?;
    let leases: Vec<LapsedLease> = rows
        .into_iter()
        .map(|row| {
            let key = LeaseKey {
                tenant: TenantId(row.tenant_id),
                task: TaskId(row.id),
                attempt: row.attempt.unsigned_abs(),
                session: SessionId(row.session_id),
            };
            LapsedLease { key, at_most_once: row.at_most_once }
        })
        .collect();
    let answers = lapsed(tx, &leases).await?;
    Ok(answers.iter().filter(|answer| answer.moved_to().is_some()).count() as u64)
}

/// Locks the tasks of `leases` in the order of all transitions. Two statements, each in order, are not in order together.
async fn lock(tx: &mut PgConnection, leases: &[LapsedLease]) -> Result<(), StoreError> {
    let keys: Vec<_> = leases.iter().map(|lease| (lease.key.tenant, lease.key.task)).collect();
    let (tenants, ids) = super::dispatched::sorted_keys(&keys);
    let query = sqlx::query!(
        r#"select count(*) as "locked!" from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            cross join lateral (
                select from task l where l.tenant_id = i.tenant_id and l.id = i.id limit 1 for update
            ) t"#,
        &tenants,
        &ids
    );
    named("lease_lapsed.lock", query.fetch_all(tx)).await.map(|_| ())
}

async fn lapsed(
    tx: &mut PgConnection,
    leases: &[LapsedLease],
) -> Result<Vec<TransitionResult>, StoreError> {
    let of = |for_good: bool| {
        let reason = if for_good { GONE_FOR_GOOD } else { GONE };
        leases
            .iter()
            .enumerate()
            .filter(move |(_, lease)| lease.at_most_once == for_good)
            .map(move |(at, lease)| {
                (at, EndedAttempt::bare(lease.key, AttemptOutcome::Lost, reason))
            })
            .unzip::<usize, EndedAttempt, Vec<_>, Vec<_>>()
    };
    if leases.iter().any(|lease| lease.at_most_once)
        && leases.iter().any(|lease| !lease.at_most_once)
    {
        lock(tx, leases).await?;
    }
    let mut answers = vec![TransitionResult::NotFound; leases.len()];
    let (places, ended) = of(false);
    if !ended.is_empty() {
        for (at, answer) in
            places.into_iter().zip(to_go_on(tx, Event::LeaseLapsed, &ended, &[]).await?)
        {
            answers[at] = answer;
        }
    }
    let (places, ended) = of(true);
    if !ended.is_empty() {
        for (at, answer) in
            places.into_iter().zip(for_good(tx, Event::LeaseLapsedForGood, &ended).await?)
        {
            answers[at] = answer;
        }
    }
    Ok(answers)
}
