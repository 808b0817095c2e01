//! Day partitions: made ahead, dropped whole. See `migrations/0006_partitions.sql`.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;

/// Makes the partitions from yesterday to `days_ahead` days ahead; says how many were missing.
///
/// # Errors
/// When the database cannot answer. [`StoreError::Contended`] where a long statement was in the way: it waits half a second,
/// because everything else would queue behind it, and there are days to try again.
pub async fn ensure(db: &SchedulerDb, days_ahead: u32) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select berth_partitions_ensure((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + $1::integer) as "made!""#,
        i32::try_from(days_ahead).unwrap_or(30)
    );
    Ok(named("partition.ensure", query.fetch_one(db.pool())).await?.unsigned_abs().into())
}

/// Rows that no day's partition took, because some clock is days off. Not 0: a person should look.
///
/// # Errors
/// When the database cannot answer.
pub async fn strays(db: &SchedulerDb) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(r#"select berth_partitions_strays() as "strays!""#);
    Ok(named("partition.strays", query.fetch_one(db.pool())).await?.unsigned_abs())
}

/// Drops what ended more than `retention_days` days ago; says how many partitions went. What is in use at the moment stays
/// for the next time.
///
/// # Errors
/// When the database cannot answer.
pub async fn drop_expired(db: &SchedulerDb, retention_days: u32) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select berth_partitions_drop((now() at time zone 'UTC')::date - $1::integer) as "dropped!""#,
        i32::try_from(retention_days).unwrap_or(i32::MAX)
    );
    Ok(named("partition.drop_expired", query.fetch_one(db.pool())).await?.unsigned_abs().into())
}
