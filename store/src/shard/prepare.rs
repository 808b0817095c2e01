//! Makes the shards that the settings name.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;

/// From now on new schedules are dealt into `count` shards. Those that are more stay, and are fired, for the schedules in them.
///
/// # Errors
/// When the database cannot answer.
pub async fn prepare(db: &SchedulerDb, count: u16) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "insert into schedule_shard (shard) select generate_series(0, $1::integer - 1) on conflict do nothing",
        i32::from(count)
    );
    named("shard.make", query.execute(db.pool())).await?;
    let query = sqlx::query!(
        "update schedule_shard set open = shard < $1::integer where open <> (shard < $1::integer)",
        i32::from(count)
    );
    named("shard.open", query.execute(db.pool())).await.map(|_| ())
}
