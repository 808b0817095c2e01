//! `unplaced`: a resource manager held a hint and found no room; the task goes back to ready and is parked.
//!
//! It keeps its place and it is not picked again for `park`, unless capacity rises. No attempt
//! is burnt: nothing was placed.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use domain::id::{TaskId, TenantId};
use domain::task::State;
use domain::time::millis;
use std::time::Duration;

/// Gives dispatches back; says how many.
///
/// # Errors
/// When the database cannot answer; then nothing moved, and the scheduler's sweep does it later.
pub async fn unplaced(
    db: &RmDb,
    dispatches: &[(TenantId, TaskId, i32)],
    park: Duration,
) -> Result<u64, StoreError> {
    let mut sorted = dispatches.to_vec();
    sorted.sort_unstable();
    let tenants: Vec<_> = sorted.iter().map(|d| d.0.uuid()).collect();
    let ids: Vec<_> = sorted.iter().map(|d| d.1.uuid()).collect();
    let epochs: Vec<i32> = sorted.iter().map(|d| d.2).collect();
    repeated(|| async {
        let query = sqlx::query!(
            "update task t set state = 'ready', parked_until = now() + $4 * interval '1 millisecond',
                    wake_at = case when t.expire_if_late and t.first_started_at is null then t.start_deadline end
                from unnest($1::uuid[], $2::uuid[], $3::integer[]) as i(tenant_id, id, dispatch_epoch)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state = $5::text::task_state and t.dispatch_epoch = i.dispatch_epoch",
            &tenants,
            &ids,
            &epochs,
            millis(park) as f64,
            State::Queued.as_str()
        );
        Ok(named("unplaced", query.execute(db.pool())).await?.rows_affected())
    })
    .await
}
