//! Day partitions: made ahead, dropped whole. See `migrations/0006_partitions.sql`.
//!
//! One partition a statement, because each locks its whole table for a moment. A statement that finds the table in long
//! use gives up after half a second: everything else would queue behind it, and there are days to try again.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::patient;

const PARENTS: [&str; 8] = [
    "attempt",
    "task_output",
    "schedule_fire",
    "task_event",
    "webhook_delivery",
    "task_result",
    "task_history",
    "task_spec",
];

/// Makes the partitions from yesterday to `days_ahead` days ahead; says how many were missing. Several at once are fine.
///
/// # Errors
/// When the database cannot answer. [`StoreError::Contended`] where a table was in long use; what could be made was.
pub async fn ensure(db: &SchedulerDb, days_ahead: u32) -> Result<u64, StoreError> {
    let days = i32::try_from(days_ahead).unwrap_or(30);
    each_until_done(|parent| async move {
        let query = sqlx::query_scalar!(
            r#"select berth_partition_make($1, (now() at time zone 'UTC')::date - 1,
                (now() at time zone 'UTC')::date + $2::integer) as "made!""#,
            parent,
            days
        );
        patient("partition.make", query.fetch_one(db.pool())).await
    })
    .await
}

/// Drops what ended more than `retention_days` days ago; says how many partitions went. A day of specs that something kept still
/// needs stays.
///
/// # Errors
/// When the database cannot answer. [`StoreError::Contended`] where a table was in long use; what could be dropped was.
pub async fn drop_expired(db: &SchedulerDb, retention_days: u32) -> Result<u64, StoreError> {
    let days = i32::try_from(retention_days).unwrap_or(i32::MAX);
    each_until_done(|parent| async move {
        let query = sqlx::query_scalar!(
            r#"select berth_partition_drop($1, (now() at time zone 'UTC')::date - $2::integer) as "dropped!""#,
            parent,
            days
        );
        patient("partition.drop", query.fetch_one(db.pool())).await
    })
    .await
}

/// Rows that no day's partition took, because some clock is days off. Not 0: a person should look.
///
/// # Errors
/// When the database cannot answer.
pub async fn strays(db: &SchedulerDb) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(r#"select berth_partitions_strays() as "strays!""#);
    Ok(patient("partition.strays", query.fetch_one(db.pool())).await?.unsigned_abs())
}

/// Repeats `step` for each partitioned table while it has something to do; a table in use keeps no other from its turn.
async fn each_until_done<F, Fut>(step: F) -> Result<u64, StoreError>
where
    F: Fn(&'static str) -> Fut,
    Fut: Future<Output = Result<bool, StoreError>>,
{
    let (mut done, mut in_use) = (0, None);
    for parent in PARENTS {
        loop {
            match step(parent).await {
                Ok(true) => done += 1,
                Ok(false) => break,
                Err(StoreError::Contended) => {
                    in_use = Some(StoreError::Contended);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
    }
    in_use.map_or(Ok(done), Err)
}
