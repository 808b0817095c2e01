//! What was used, added up by quarter of an hour and priced, from the attempts.
//!
//! Each attempt is counted by the transaction that wrote it. One scheduler at a time counts: it locks the row of the consumer `usage` in
//! `event_cursor`, reads the attempts of the transactions from there to the oldest that is open, and moves the row in the transaction that
//! also writes the sums. So each attempt is counted once, however late it commits and whatever is killed.
//!
//! What was there before the first count is read day by day. Then `seq` is the day that comes next, counted from 1970 and from 1, and
//! `txid` the transaction before which it was written; -1 stands for all.

mod read;
mod unpriced;
mod write;

use crate::StoreError;
use crate::connect::{ApiDb, SchedulerDb};
use crate::event::Cursor;
use crate::statement::{named, patient};
use chrono::{Datelike, NaiveDate, NaiveTime, TimeDelta};
use domain::id::TenantId;
use domain::price::Rollup;
use domain::time::Timestamp;
use read::Span;
use sqlx::PgConnection;
use std::time::Duration;
pub(crate) use write::{StoredValues, add_all, bounded, label_of};

/// Its row in `event_cursor`.
const CONSUMER: &str = "usage";
/// The row of the transaction that was the next to begin at some time, and of that time.
const SEEN: &str = "usage_seen";
/// Every day is counted.
const ALL_DAYS: i64 = -1;

/// What one transaction counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Attempts.
    pub attempts: usize,
    /// Charged ones that no prices held for, while there are price books; 0 of days before the first count.
    pub unpriced: u64,
    /// The day that was counted, where it was one of before the first count.
    pub day: Option<NaiveDate>,
}

/// Counts what ended since the last count, or the next day of what was there before the first; nothing while another scheduler counts.
///
/// # Errors
/// When the database cannot answer, or holds prices that cannot be read. Repeating it counts nothing twice.
pub async fn count(db: &SchedulerDb) -> Result<Counted, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(cursor) = Cursor::lock(&mut tx, CONSUMER).await? else {
        return Ok(Counted::default());
    };
    let now = standing(&mut tx).await?;
    let (day, span, next) = match cursor {
        Cursor { seq: ALL_DAYS, txid } => {
            let next = Cursor { txid: now.oldest_open, seq: ALL_DAYS };
            // A transaction began at most a day before the count that it was too late for.
            let ended_from = now.counted_at - TimeDelta::days(1);
            let (txid_from, txid_until) = (Some(txid), next.txid);
            (
                None,
                Span {
                    ended_from,
                    ended_until: Timestamp::MAX_UTC,
                    txid_from,
                    txid_until,
                    tenant: None,
                },
                next,
            )
        }
        Cursor { seq, txid } => {
            let fresh = seq == 0;
            let (day, before) =
                if fresh { (number_of(now.first_day), now.oldest_open) } else { (seq, txid) };
            // A day more, for attempts that end a moment after their transaction began.
            let seq = if day > number_of(now.today) { ALL_DAYS } else { day + 1 };
            // With what there may be of days before the first.
            let ended_from = if fresh { Timestamp::UNIX_EPOCH } else { start_of(day) };
            let ended_until = start_of(day + 1);
            let (txid_from, txid_until, tenant) = (None, before, None);
            let span = Span { ended_from, ended_until, txid_from, txid_until, tenant };
            (Some(date_of(day)), span, Cursor { txid: before, seq })
        }
    };
    let read = read::rollup(db, &mut tx, span).await?;
    let unpriced = if day.is_none() { unpriced::attempts(&mut tx, &read.rows).await? } else { 0 };
    write::write(&mut tx, read.rows).await?;
    store(&mut tx, next, day.is_none().then_some(now.next)).await?;
    named("commit", tx.commit()).await?;
    Ok(Counted { attempts: read.attempts, unpriced, day })
}

/// How many attempts ended on a day (UTC), and their sums: all that were written before a [`place`] of the count, or
/// those from another on.
pub(crate) async fn of_day(
    db: &SchedulerDb,
    tx: &mut PgConnection,
    day: NaiveDate,
    (txid_from, txid_until): (Option<i64>, i64),
    tenant: Option<TenantId>,
) -> Result<(usize, Rollup), StoreError> {
    let day = number_of(day);
    let (ended_from, ended_until) = (start_of(day), start_of(day + 1));
    let span = Span { ended_from, ended_until, txid_from, txid_until, tenant };
    let read = read::rollup(db, tx, span).await?;
    Ok((read.attempts, read.rows))
}

/// Where the count is: attempts of transactions before this are counted; `None` while those of before the first count are not. With
/// `lock`, nobody counts until the transaction ends, and who does now is waited for.
pub(crate) async fn place(tx: &mut PgConnection, lock: bool) -> Result<Option<i64>, StoreError> {
    let place = if lock {
        let query = sqlx::query_scalar!(
            "select txid from event_cursor where consumer = $1 and seq = $2 for update",
            CONSUMER,
            ALL_DAYS
        );
        patient("rollup.lock", query.fetch_optional(tx)).await?
    } else {
        let query = sqlx::query_scalar!(
            "select txid from event_cursor where consumer = $1 and seq = $2",
            CONSUMER,
            ALL_DAYS
        );
        named("rollup.place", query.fetch_optional(tx)).await?
    };
    Ok(place)
}

/// Moves the row. Its time is that until which all is counted: when the transaction `seen` was the next one to begin, and all before it
/// have ended since. While days are counted it stays: what has ended meanwhile is counted after the days, however long they take.
async fn store(
    tx: &mut PgConnection,
    Cursor { txid, seq }: Cursor,
    seen: Option<i64>,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with past as (
                select s.txid, s.at from event_cursor s where s.consumer = $5
            ), seen as (
                update event_cursor s set txid = $4, at = now() where s.consumer = $5 and $4::bigint is not null and s.txid <= $2
            )
            update event_cursor c set txid = $2, seq = $3,
                at = case when $4::bigint is not null and p.txid <= $2 then greatest(c.at, p.at) else c.at end
            from past p where c.consumer = $1",
        CONSUMER,
        txid,
        seq,
        seen,
        SEEN
    );
    named("rollup.store", query.execute(tx)).await.map(|_| ())
}

/// Days from 1970, from 1.
fn number_of(day: NaiveDate) -> i64 {
    (day.num_days_from_ce() - NaiveDate::default().num_days_from_ce() + 1).into()
}

fn date_of(number: i64) -> NaiveDate {
    let days = u64::try_from(number.saturating_sub(1)).unwrap_or_default();
    NaiveDate::default().checked_add_days(chrono::Days::new(days)).unwrap_or(NaiveDate::MAX)
}

/// When a day begins.
fn start_of(number: i64) -> Timestamp {
    date_of(number).and_time(NaiveTime::MIN).and_utc()
}

/// Where the database stands.
struct Standing {
    /// When attempts were counted last.
    counted_at: Timestamp,
    /// All transactions before this have ended.
    oldest_open: i64,
    /// The transaction that begins next.
    next: i64,
    /// UTC.
    today: NaiveDate,
    /// The first day of which attempts may be kept.
    first_day: NaiveDate,
}

async fn standing(tx: &mut PgConnection) -> Result<Standing, StoreError> {
    let query = sqlx::query_as!(
        Standing,
        r#"select (select c.at from event_cursor c where c.consumer = $1) as "counted_at!", pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "oldest_open!",
                pg_snapshot_xmax(pg_current_snapshot())::text::bigint as "next!",
                (now() at time zone 'UTC')::date as "today!",
                least((now() at time zone 'UTC')::date,
                    (select min(to_date(right(c.relname, 8), 'YYYYMMDD')) from pg_inherits i join pg_class c on c.oid = i.inhrelid
                        where i.inhparent = 'public.attempt'::regclass and c.relname ~ '_[0-9]{8}$')) as "first_day!""#,
        CONSUMER
    );
    let standing = named("rollup.standing", query.fetch_all(tx)).await?.pop();
    standing.ok_or(StoreError::Database(sqlx::Error::RowNotFound))
}

/// Until when all that has ended is counted; `None` before what was there at first is counted.
///
/// # Errors
/// When the database cannot answer.
pub async fn counted_until(db: &ApiDb) -> Result<Option<Timestamp>, StoreError> {
    let query = sqlx::query_scalar!(
        "select at from event_cursor where consumer = $1 and seq = $2",
        CONSUMER,
        ALL_DAYS
    );
    named("rollup.counted_until", query.fetch_optional(db.pool())).await
}

/// How long ago it was that all which had ended by then is counted now.
///
/// # Errors
/// When the database cannot answer.
pub async fn lag(db: &SchedulerDb) -> Result<Option<Duration>, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select extract(epoch from clock_timestamp() - at)::float8 as "lag!" from event_cursor where consumer = $1"#,
        CONSUMER
    );
    let lag = named("rollup.lag", query.fetch_optional(db.pool())).await?;
    Ok(lag.map(|seconds| Duration::from_secs_f64(seconds.max(0.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_numbered_from_1970() {
        assert_eq!(number_of(NaiveDate::default()), 1);
        for day in ["1970-01-01", "2024-02-29", "2030-12-31"] {
            let day: NaiveDate = day.parse().unwrap();
            assert_eq!(date_of(number_of(day)), day);
        }
    }
}
