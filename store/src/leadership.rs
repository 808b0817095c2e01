//! The active batcher: one row with holder, epoch and expiry.
//!
//! Database time decides. The holder trusts itself only until two thirds of the term after it *asked*; the
//! statement that marks tasks `queued` names the epoch besides, so an old holder marks nothing: it is safe to take over at any time, and
//! a term only spares useless changes. So the row also names the connection on which it was last renewed, which is kept for nothing else.
//! Where Postgres has that one no more, which it knows at once of a process that was killed, another takes over without waiting for the
//! end of the term.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use crate::statement::timely;
use domain::epoch::Epoch;
use domain::id::NodeId;
use domain::time::millis;
use std::time::Duration;

/// Takes or renews the batcher's row for `term`, under the epoch that is returned; `None` while another holds it. Another's whose connection has gone is taken, too.
///
/// Where the connection of the last renewal fell silent, the epoch is a later one: statements on other connections may wait in vain, and
/// a later epoch is what gives them up.
///
/// # Errors
/// When the database cannot answer; then nothing is known, and the holder's own clock decides.
pub async fn acquire(
    db: &SchedulerDb,
    node: NodeId,
    term: Duration,
) -> Result<Option<Epoch>, StoreError> {
    let mut leader = db.leader().acquire().await?;
    let query = sqlx::query_scalar!(
        "update leadership l
            set epoch = case when holder = $1 and expires_at > clock_timestamp() and not $3 then epoch else epoch + 1 end,
                holder = $1,
                expires_at = clock_timestamp() + $2 * interval '1 millisecond',
                backend = pg_backend_pid(),
                backend_start = (select a.backend_start from pg_stat_get_activity(pg_backend_pid()) a)
            where role = 'batcher' and (holder = $1 or holder is null or expires_at <= clock_timestamp()
                -- Of connections that are hidden from this login no start is shown.
                or backend is not null and not exists (select from pg_stat_get_activity(l.backend) a
                    where coalesce(a.backend_start = l.backend_start, true)))
            returning epoch",
        node.uuid(),
        millis(term) as f64,
        leader.fell_silent
    );
    // An answer after the term would be of no use.
    let answer = timely(term, "leadership.acquire", query.fetch_optional(&mut *leader)).await;
    Ok(leader.after(answer)?.map(Epoch))
}

/// Gives the row up at once, on shutdown. Nothing happens where it is not held any more.
///
/// # Errors
/// When the database cannot answer; then it expires by itself.
pub async fn release(db: &SchedulerDb, node: NodeId) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update leadership set holder = null, expires_at = '-infinity', backend = null, backend_start = null where role = 'batcher' and holder = $1",
        node.uuid()
    );
    on_own!(db.leader(), "leadership.release", query.execute);
    Ok(())
}
