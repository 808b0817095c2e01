//! Holds the shards for which something is written, under the epochs by which they are owned.

use crate::StoreError;
use crate::shard::ShardEpoch;
use crate::statement::named;
use domain::id::NodeId;
use sqlx::PgConnection;

/// Those of `shards` that `node` owns under just these epochs: nobody else takes them until the transaction ends. Where a frozen
/// process does not end it, the database does after two seconds.
pub(super) async fn hold(
    tx: &mut PgConnection,
    node: NodeId,
    shards: &[ShardEpoch],
) -> Result<Vec<i16>, StoreError> {
    let mut sorted: Vec<_> = shards.iter().map(|at| (at.shard, at.epoch.0)).collect();
    sorted.sort_unstable();
    let (numbers, epochs): (Vec<_>, Vec<_>) = sorted.into_iter().unzip();
    let query = sqlx::query!(
        r#"select l.shard as "shard!", set_config('idle_in_transaction_session_timeout', '2000', true) as "limit!"
            from unnest($1::smallint[], $2::bigint[]) as h(shard, epoch)
            cross join lateral (
                select o.shard from schedule_shard o
                where o.shard = h.shard and o.epoch = h.epoch and o.owner = $3 limit 1 for share) l"#,
        &numbers,
        &epochs,
        node.uuid()
    );
    let rows = named("fire.hold", query.fetch_all(tx)).await?;
    Ok(rows.into_iter().map(|row| row.shard).collect())
}
