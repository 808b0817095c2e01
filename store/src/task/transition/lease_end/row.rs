//! Ended attempts as the rows that the statements take, in the order in which every transition locks rows.

use super::EndedAttempt;
use crate::rows::row_of;
use uuid::Uuid;

/// A row of `lease_end`, in the order of its columns.
#[derive(sqlx::Encode)]
pub(in super::super) struct EndedLease<'a> {
    tenant_id: Uuid,
    id: Uuid,
    attempt: i32,
    session_id: Uuid,
    outcome: &'a str,
    charged: bool,
    ran_ms: i64,
    exit_code: Option<i32>,
    signal: Option<i32>,
    reason: Option<&'a str>,
    stdout: i64,
    stderr: i64,
    delay_ms: i64,
}
row_of!("lease_end": EndedLease<'_>);

impl<'a> EndedLease<'a> {
    /// A task that goes on is due after `delay_ms`.
    pub(in super::super) fn of(ended: &'a EndedAttempt, delay_ms: i64) -> Self {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Self {
            tenant_id: ended.lease.tenant.uuid(),
            id: ended.lease.task.uuid(),
            attempt: i32::try_from(ended.lease.attempt).unwrap_or(0),
            session_id: ended.lease.session.uuid(),
            outcome: ended.outcome.as_str(),
            charged: ended.outcome.is_charged(),
            ran_ms: signed(ended.ran_ms),
            exit_code: ended.exit_code,
            signal: ended.signal,
            reason: ended.reason.as_deref(),
            stdout: signed(ended.stdout_bytes),
            stderr: signed(ended.stderr_bytes),
            delay_ms,
        }
    }
}

/// Places of the rows in lock order (tenant, task), the first of each lease only: a statement must not write an
/// attempt twice.
pub(in super::super) fn in_lock_order(ended: &[EndedAttempt]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ended.len()).collect();
    order.sort_by_key(|at| ended[*at].lease);
    order.dedup_by_key(|at| ended[*at].lease);
    order
}
