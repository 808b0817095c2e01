//! Ended attempts as the arrays the statements take, in the order in which every transition locks rows.

use super::EndedAttempt;
use uuid::Uuid;

pub(super) struct Columns {
    pub tenants: Vec<Uuid>,
    pub tasks: Vec<Uuid>,
    pub attempts: Vec<i32>,
    pub sessions: Vec<Uuid>,
    pub outcomes: Vec<String>,
    pub charged: Vec<bool>,
    pub ran_ms: Vec<i64>,
    pub exit_codes: Vec<Option<i32>>,
    pub signals: Vec<Option<i32>>,
    pub reasons: Vec<Option<String>>,
    pub stdout: Vec<i64>,
    pub stderr: Vec<i64>,
}

impl Columns {
    pub(super) fn of<'a>(ended: impl Iterator<Item = &'a EndedAttempt> + Clone) -> Self {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Self {
            tenants: ended.clone().map(|e| e.lease.tenant.uuid()).collect(),
            tasks: ended.clone().map(|e| e.lease.task.uuid()).collect(),
            attempts: ended.clone().map(|e| i32::try_from(e.lease.attempt).unwrap_or(0)).collect(),
            sessions: ended.clone().map(|e| e.lease.session.uuid()).collect(),
            outcomes: ended.clone().map(|e| e.outcome.as_str().to_owned()).collect(),
            charged: ended.clone().map(|e| e.outcome.is_charged()).collect(),
            ran_ms: ended.clone().map(|e| signed(e.ran_ms)).collect(),
            exit_codes: ended.clone().map(|e| e.exit_code).collect(),
            signals: ended.clone().map(|e| e.signal).collect(),
            reasons: ended.clone().map(|e| e.reason.clone()).collect(),
            stdout: ended.clone().map(|e| signed(e.stdout_bytes)).collect(),
            stderr: ended.map(|e| signed(e.stderr_bytes)).collect(),
        }
    }
}

/// Places of the rows in lock order (tenant, task), the first of each lease only: a statement must not write an
/// attempt twice.
pub(super) fn in_lock_order(ended: &[EndedAttempt]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ended.len()).collect();
    order.sort_by_key(|at| ended[*at].lease);
    order.dedup_by_key(|at| ended[*at].lease);
    order
}
