//! A scheduler says that it lives, and looks who else does.

use super::ShardEpoch;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::epoch::Epoch;
use domain::id::NodeId;
use domain::time::{Timestamp, millis};
use std::time::Duration;

/// Who lives, and who owns what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// The database's time.
    pub now: Timestamp,
    /// Every scheduler that lives, this one included, by id.
    pub nodes: Vec<NodeId>,
    /// Every shard, by number.
    pub shards: Vec<Shard>,
}

/// A shard as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Which, and its last epoch.
    pub at: ShardEpoch,
    /// Who took it last; nobody, where that one gave it up.
    pub owner: Option<NodeId>,
    /// The release of the time zone data by which its due times were found.
    pub tzdb: String,
}

/// Keeps `node` alive for `term` from now; forgets those that have long been dead.
///
/// # Errors
/// When the database cannot answer; then nothing is known.
pub async fn beat(db: &SchedulerDb, node: NodeId, term: Duration) -> Result<Beat, StoreError> {
    let query = sqlx::query_scalar!(
        r#"with forgotten as (delete from scheduler_node where expires_at < now() - interval '1 minute' and id <> $1)
            insert into scheduler_node as n (id, expires_at) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
            on conflict (id) do update set expires_at = excluded.expires_at
            returning clock_timestamp() as "now!""#,
        node.uuid(),
        millis(term) as f64
    );
    let mut connection = db.pool().acquire().await?;
    let now = named("shard.beat", query.fetch_all(&mut *connection)).await?;
    let query = sqlx::query_scalar!(
        "select id from scheduler_node where expires_at > clock_timestamp() order by id"
    );
    let nodes = named("shard.nodes", query.fetch_all(&mut *connection)).await?;
    let query = sqlx::query!("select shard, owner, epoch, tzdb from schedule_shard order by shard");
    let shards = named("shard.list", query.fetch_all(&mut *connection)).await?;
    Ok(Beat {
        now: now.first().copied().unwrap_or_default(),
        nodes: nodes.into_iter().map(NodeId).collect(),
        shards: shards
            .into_iter()
            .map(|row| Shard {
                at: ShardEpoch { shard: row.shard, epoch: Epoch(row.epoch) },
                owner: row.owner.map(NodeId),
                tzdb: row.tzdb,
            })
            .collect(),
    })
}
