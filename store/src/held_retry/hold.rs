//! Keeps in mind which tasks wait for which target, in the transaction in which their attempts end.

use crate::StoreError;
use crate::statement::named;
use domain::task::LeaseKey;
use domain::time::millis;
use sqlx::PgConnection;
use std::sync::Arc;
use std::time::Duration;

/// What a retry waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRetry {
    /// Scheme, host and port; see [`domain::target::origin_of`].
    pub target: Arc<str>,
    /// It does not go before this has passed, however well its target does.
    pub back_off: Duration,
}

/// Each lease whose attempt failed, with what it waits for and the time after which it is due by itself.
pub(crate) async fn hold(
    tx: &mut PgConnection,
    held: &[(LeaseKey, &HeldRetry, Duration)],
) -> Result<(), StoreError> {
    let tenants: Vec<_> = held.iter().map(|(lease, ..)| lease.tenant.uuid()).collect();
    let tasks: Vec<_> = held.iter().map(|(lease, ..)| lease.task.uuid()).collect();
    let attempts: Vec<_> =
        held.iter().map(|(lease, ..)| i32::try_from(lease.attempt).unwrap_or(i32::MAX)).collect();
    let targets: Vec<_> = held.iter().map(|(_, held, _)| held.target.to_string()).collect();
    let back_offs: Vec<_> = held.iter().map(|(_, held, _)| millis(held.back_off)).collect();
    let due: Vec<_> = held.iter().map(|(.., due)| millis(*due)).collect();
    let query = sqlx::query!(
        "insert into held_retry as h (tenant_id, task_id, attempt, target, not_before, due_at)
            select i.tenant_id, i.task_id, i.attempt, i.target, now() + i.back_off * interval '1 millisecond',
                now() + i.due * interval '1 millisecond'
            from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::bigint[], $6::bigint[])
                as i(tenant_id, task_id, attempt, target, back_off, due)
            order by i.tenant_id, i.task_id
            on conflict (tenant_id, task_id) do update set attempt = excluded.attempt, target = excluded.target,
                not_before = excluded.not_before, due_at = excluded.due_at",
        &tenants,
        &tasks,
        &attempts,
        &targets,
        &back_offs,
        &due
    );
    named("held_retry.hold", query.execute(tx)).await.map(|_| ())
}
