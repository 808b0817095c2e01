//! Which days can be rebuilt.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use chrono::NaiveDate;
use sqlx::PgConnection;

/// The first day (UTC) of which all attempts are kept, with the schedules, workflows and labels of their tasks.
///
/// Of the day before it, workflow runs that ended are being deleted already, while its attempts are still there.
///
/// # Errors
/// When the database cannot answer.
pub async fn first_day(db: &SchedulerDb, retention_days: u32) -> Result<NaiveDate, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    kept_from(&mut tx, retention_days).await
}

/// The same, in a transaction: what it has read of such a day was all there.
pub(super) async fn kept_from(
    tx: &mut PgConnection,
    retention_days: u32,
) -> Result<NaiveDate, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select greatest((clock_timestamp() at time zone 'UTC')::date - $1::integer + 1,
            (select min(to_date(right(c.relname, 8), 'YYYYMMDD')) from pg_inherits i join pg_class c on c.oid = i.inhrelid
                where i.inhparent = 'public.attempt'::regclass and c.relname ~ '_[0-9]{8}$')) as "first!""#,
        i32::try_from(retention_days).unwrap_or(i32::MAX / 1000)
    );
    let first = named("usage_rebuild.first_day", query.fetch_optional(tx)).await?;
    first.ok_or(StoreError::Database(sqlx::Error::RowNotFound))
}
