//! Gives shards up, so that another takes them at once.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::NodeId;

/// Gives up those of `shards` that `node` owns. What it was firing there has been written before this returns.
///
/// # Errors
/// When the database cannot answer; then it may own them still.
pub async fn give_up(db: &SchedulerDb, node: NodeId, shards: &[i16]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule_shard set owner = null where shard = any (array(
            select o.shard from schedule_shard o where o.shard = any ($2) and o.owner = $1 order by o.shard for update))",
        node.uuid(),
        shards
    );
    named("shard.give_up", query.execute(db.pool())).await.map(|_| ())
}

/// Gives up all that `node` owns, and its own row: on shutdown.
///
/// # Errors
/// When the database cannot answer; then it expires by itself.
pub async fn leave(db: &SchedulerDb, node: NodeId) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with gone as (delete from scheduler_node where id = $1)
            update schedule_shard set owner = null where shard = any (array(
                select o.shard from schedule_shard o where o.owner = $1 order by o.shard for update))",
        node.uuid()
    );
    named("shard.leave", query.execute(db.pool())).await.map(|_| ())
}
