//! Notes in which cluster and database this installation is, and holds its schedules where that is another one than before.
//!
//! What was dumped and restored stands as it did when it was dumped: whatever was due since has been fired by the installation that the
//! dump is of, or was missed. So nothing fires until an operator has looked: `berth admin resume-after-restore`.

use crate::StoreError;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

/// Another cluster numbers its transactions anew: what has not been read of the event log comes before all of them, and the cursors begin
/// there. Events that were read have no consumer any more. Webhooks go on with what happens here: others may have had what happened since
/// the dump.
///
/// The same of attempts: those that are counted (`store/src/rollup`) belong to no transaction any more, and the others to one before all.
/// Older ones are not looked at again, unless the first count is still under way.
const RESTART_EVENTS: &str = "
    update task_event e set schedule_id = null from event_cursor c
        where c.consumer = 'schedules' and e.schedule_id is not null and (e.txid, e.seq) <= (c.txid, c.seq);
    update task_event set txid = 0 where schedule_id is not null;
    update event_cursor set txid = 0, seq = -1 where consumer not in ('usage', 'usage_seen');
    update attempt a set txid = case when a.txid >= c.txid then 0 end from event_cursor c
        where c.consumer = 'usage' and a.txid is not null and (c.seq <> -1 or a.ended_at > c.at - interval '2 days');
    update event_cursor set txid = 0 where consumer in ('usage', 'usage_seen');
    update webhook set txid = pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1, seq = 9223372036854775807, behind = false,
        next_due = now();
    delete from event_consumer where consumer not like 'webhook\\_%'";

/// Notes the place; `restored`: an operator says that it was restored, where nothing else would show it. Why schedules are held, if so.
pub(super) async fn note_place(
    connection: &mut PgConnection,
    restored: bool,
) -> Result<Option<String>, StoreError> {
    let mut tx = connection.begin().await?;
    let sql = format!(
        "update installation i set place = n.place,
            held_since = coalesce(i.held_since, case when n.moved then clock_timestamp() end),
            held_because = coalesce(i.held_because, case when n.moved then 'restored from a dump or a copy' end)
        from (select o.only_one, berth_place() as place, {restored} or coalesce(o.place <> berth_place(), false) as moved
            from installation o for update) n
        where n.only_one = i.only_one
        returning i.held_because, n.moved"
    );
    let row = tx.fetch_optional(AssertSqlSafe(sql)).await?;
    let (held, moved) = match row {
        Some(row) => (row.try_get::<Option<String>, _>(0)?, row.try_get::<bool, _>(1)?),
        None => (None, false),
    };
    if moved {
        tx.execute(RESTART_EVENTS).await?;
    }
    if held.is_some() {
        // Whoever fires now fires no more.
        let give_up =
            "update schedule_shard set owner = null, epoch = epoch + 1 where owner is not null";
        tx.execute(give_up).await?;
    }
    tx.commit().await?;
    Ok(held)
}
