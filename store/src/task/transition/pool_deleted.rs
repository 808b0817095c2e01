//! `cancel_requested`, for tasks that wait in a pool that does not exist: nobody dispatches them any more.
//!
//! A pool is deleted only while it has no live task, but a task that is submitted in that moment is stored after it. Raised by the
//! scheduler's housekeeping. A task that is not due yet, or waits for a retry, is found once it is ready.

use super::end::end_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};

/// Cancels up to `limit` ready or queued tasks of pools that do not exist. Says how many ended.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn pool_deleted(db: &SchedulerDb, limit: i64) -> Result<u64, StoreError> {
    repeated(|| async {
        let query = end_tasks!(
            of waiting: r#"with recursive waiting as (
                -- From pool to pool in the index task_by_turn, past the tasks between them. No pool is called ''.
                select ''::text collate "C" as pool
                union all
                select (
                    select t.pool from task t
                    where t.state in ('ready', 'queued') and t.pool > w.pool order by t.pool limit 1)
                from waiting w where w.pool is not null
            ), gone_pool as materialized (
                select w.pool from waiting w
                where w.pool > '' and not exists (select from pool p where p.name = w.pool)
            ), picked as materialized (
                select k.tenant_id, k.id from gone_pool g
                cross join lateral (
                    select t.tenant_id, t.id from task t
                    where t.pool = g.pool and t.state in ('ready', 'queued')
                    limit $1
                    for update of t skip locked) k
                limit $1
            ), gone as (
                delete from task t using picked p
                -- All states that wait: of fewer, task_by_turn would be read whole.
                where t.tenant_id = any (array[p.tenant_id]) and t.id = p.id
                    and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                returning t.*
            )"#,
            state: "'cancelled'",
            reason: "'its pool was deleted'",
            answer: "select from gone",
            limit
        );
        Ok(named("pool_deleted", query.execute(db.pool())).await?.rows_affected())
    })
    .await
}
