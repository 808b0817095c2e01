//! `called`: the task was taken on by whom its attempt called, and runs until it is completed.
//!
//! From running the lease leaves its executor and goes on until the cap is over; from cancelling it ends cancelled, because nobody is left
//! who could be asked to stop.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, EndedLease, for_good, in_lock_order};
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use domain::id::SessionId;
use domain::task::{AttemptOutcome, Event, State};
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

const STOPPED: &str = "stopped on request";

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing is known of the later ones.
pub async fn called(
    db: &RmDb,
    calls: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    repeated(|| async {
        let mut connection = db.settling().acquire().await?;
        let answers = called_in(&mut connection, calls).await;
        connection.after(answers)
    })
    .await
}

async fn called_in(
    tx: &mut PgConnection,
    calls: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    let order = in_lock_order(calls);
    let rows: Vec<_> = order.iter().map(|at| EndedLease::of(&calls[*at], 0)).collect();
    let query = sqlx::query!(
        r#"with moved as (
                update task t set session_id = $2, called = row(i.session_id, i.ran_ms, i.exit_code, i.stdout, i.stderr)::task_call,
                    port_first = null, wake_at = t.placed_at + t.cap_ms * interval '1 millisecond'
                from unnest($1::lease_end[]) i
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.attempt = i.attempt and t.session_id = i.session_id and t.state = 'running'
                returning t.tenant_id, t.id, t.attempt
            )
            select m.tenant_id as "tenant_id!", m.id as "id!", m.attempt as "attempt!", true as "moved!" from moved m
            union all
            -- It was told before. What this statement moves is not seen here.
            select i.tenant_id, i.id, i.attempt, false from unnest($1::lease_end[]) i
            cross join lateral (
                select from task l where l.tenant_id = i.tenant_id and l.id = i.id and l.attempt = i.attempt
                    and (l.called).session = i.session_id limit 1) t"#,
        &rows as &[EndedLease<'_>],
        SessionId::CALLED.uuid()
    );
    let stand: HashMap<(Uuid, Uuid, i32), bool> = named("called", query.fetch_all(&mut *tx))
        .await?
        .into_iter()
        .map(|row| ((row.tenant_id, row.id, row.attempt), row.moved))
        .collect();
    let key = |call: &EndedAttempt| {
        let attempt = i32::try_from(call.lease.attempt).unwrap_or(0);
        (call.lease.tenant.uuid(), call.lease.task.uuid(), attempt)
    };
    let mut answers = vec![TransitionResult::NotFound; calls.len()];
    let mut others = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        match stand.get(&key(call)) {
            Some(true) => answers[at] = TransitionResult::Applied(State::Running),
            Some(false) => answers[at] = TransitionResult::Repeated,
            None => others.push(at),
        }
    }
    if others.is_empty() {
        return Ok(answers);
    }
    let stopped = |at: &usize| EndedAttempt {
        outcome: AttemptOutcome::Stopped,
        reason: Some(STOPPED.to_owned()),
        ..calls[*at].clone()
    };
    let stopped: Vec<_> = others.iter().map(stopped).collect();
    for (at, answer) in others.into_iter().zip(for_good(tx, Event::Stopped, &stopped).await?) {
        answers[at] = answer;
    }
    Ok(answers)
}
