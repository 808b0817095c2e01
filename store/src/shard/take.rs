//! Takes shards that nobody alive owns.

use super::ShardEpoch;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::epoch::Epoch;
use domain::id::NodeId;

/// Makes `node` the owner of those of `shards` whose owner is dead or gave them up, each under its next epoch; says which. What a
/// dead owner was writing has been written before this returns, or never will be. None while schedules are held after a restore.
///
/// # Errors
/// When the database cannot answer; then some may be taken, and are seen at the next beat.
pub async fn take(
    db: &SchedulerDb,
    node: NodeId,
    shards: &[i16],
) -> Result<Vec<ShardEpoch>, StoreError> {
    let query = sqlx::query!(
        "update schedule_shard s set owner = $1, epoch = s.epoch + 1
            where berth_schedules_held() is null and s.shard = any (array(
                    select o.shard from schedule_shard o
                    where o.shard = any ($2) and not exists (
                        select from scheduler_node n where n.id = o.owner and n.expires_at > clock_timestamp())
                    order by o.shard for update))
                and not exists (
                    select from scheduler_node n where n.id = s.owner and n.expires_at > clock_timestamp())
            returning s.shard, s.epoch",
        node.uuid(),
        shards
    );
    let rows = named("shard.take", query.fetch_all(db.pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| ShardEpoch { shard: row.shard, epoch: Epoch(row.epoch) })
        .collect())
}
