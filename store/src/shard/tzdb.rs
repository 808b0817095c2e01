//! Remembers by which release of the time zone data a shard's due times were found.

use super::ShardEpoch;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::NodeId;

/// All due times of the shard are those of release `tzdb`, as its owner `node` has seen to.
///
/// # Errors
/// When the database cannot answer; then it is done once more.
pub async fn set_tzdb(
    db: &SchedulerDb,
    node: NodeId,
    at: ShardEpoch,
    tzdb: &str,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule_shard set tzdb = $4 where shard = $1 and epoch = $2 and owner = $3",
        at.shard,
        at.epoch.0,
        node.uuid(),
        tzdb
    );
    named("shard.set_tzdb", query.execute(db.pool())).await.map(|_| ())
}
