//! How far a consumer of all tenants' events has come.
//!
//! A row of `event_cursor`, locked by the one that reads on and moved in the transaction that also writes what follows from the events: so
//! each has its effect once, also if a process is killed at any step. The row also has the time at which it was moved: an event behind the
//! cursor was written less than a day before that, as no transaction lasts longer, so that earlier days are not read.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use sqlx::PgConnection;
use std::time::Duration;

/// The place of the last event that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub txid: i64,
    pub seq: i64,
}

impl Cursor {
    /// Locks the row of `consumer`; `None` where another reads on at this moment.
    pub(crate) async fn lock(
        tx: &mut PgConnection,
        consumer: &str,
    ) -> Result<Option<Self>, StoreError> {
        let query = sqlx::query_as!(
            Self,
            "select txid, seq from event_cursor where consumer = $1 for update skip locked",
            consumer
        );
        named("event.lock_cursor", query.fetch_optional(tx)).await
    }

    /// Moves the row of `consumer` here.
    pub(crate) async fn store(
        self,
        tx: &mut PgConnection,
        consumer: &str,
    ) -> Result<(), StoreError> {
        let query = sqlx::query!(
            "update event_cursor set txid = $2, seq = $3, at = now() where consumer = $1",
            consumer,
            self.txid,
            self.seq
        );
        named("event.store_cursor", query.execute(tx)).await.map(|_| ())
    }
}

/// How long the oldest event that a schedule counts has been waiting to be counted; `None` where none waits. While a transaction is open,
/// what was written since it began waits with it.
///
/// # Errors
/// When the database cannot answer.
pub async fn lag(db: &SchedulerDb) -> Result<Option<Duration>, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select (select extract(epoch from clock_timestamp() - e.at)::float8 from task_event e
                where e.schedule_id is not null and (e.txid, e.seq) > (c.txid, c.seq)
                    and e.at > c.at - interval '1 day'
                order by e.txid, e.seq limit 1) as lag
            from event_cursor c where c.consumer = 'schedules'"#
    );
    let lag = named("event.lag", query.fetch_optional(db.pool())).await?.flatten();
    Ok(lag.map(|seconds| Duration::from_secs_f64(seconds.max(0.0))))
}
