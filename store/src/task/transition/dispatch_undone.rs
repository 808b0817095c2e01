//! What `dispatch_stale` and `unplaced` share: a dispatch that came to nothing is undone, whoever finds out.

use crate::StoreError;
use crate::statement::{named, repeated};
use domain::task::{Dispatch, State};
use sqlx::PgPool;

/// Takes `dispatches` back under the statement's `name`; says how many. One that was dispatched again is left alone.
pub(super) async fn dispatch_undone(
    pool: &PgPool,
    name: &'static str,
    dispatches: &[Dispatch],
) -> Result<u64, StoreError> {
    let mut sorted = dispatches.to_vec();
    sorted.sort_unstable();
    let tenants: Vec<_> = sorted.iter().map(|d| d.tenant.uuid()).collect();
    let ids: Vec<_> = sorted.iter().map(|d| d.task.uuid()).collect();
    let epochs: Vec<i32> = sorted.iter().map(epoch_column).collect();
    repeated(|| async {
        let query = sqlx::query!(
            "update task t set state = 'ready', wake_at = case when t.expire_if_late and t.first_started_at is null
                    then t.start_deadline end
                from unnest($1::uuid[], $2::uuid[], $3::integer[]) as i(tenant_id, id, dispatch_epoch)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state = $4::text::task_state and t.dispatch_epoch = i.dispatch_epoch",
            &tenants,
            &ids,
            &epochs,
            State::Queued.as_str()
        );
        Ok(named(name, query.execute(pool)).await?.rows_affected())
    })
    .await
}

/// The epoch of a dispatch as its column has it. One that the column cannot hold is stale: -1, which no row has.
pub(super) fn epoch_column(dispatch: &Dispatch) -> i32 {
    i32::try_from(dispatch.epoch.0).unwrap_or(-1)
}
