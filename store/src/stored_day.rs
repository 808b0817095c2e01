//! How much output was kept of each tenant when a day had ended: what its storage is billed by.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, patient};

/// Days that are measured at most where nobody measured for long: as if as much had been kept as now.
const MOST_DAYS: i32 = 31;

/// Measures the days (UTC) that have ended since the last one that was measured, each once; says how many tenants had something. A day on which
/// output is still stored under an earlier date is measured as it stands then.
///
/// # Errors
/// When the database cannot answer. Repeating it measures nothing twice.
pub async fn measure(db: &SchedulerDb) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "insert into stored_day (tenant_id, day, bytes)
            select u.tenant_id, d.day, sum(u.bytes)
            from (select (now() at time zone 'UTC')::date - 1 as yesterday) t
            cross join lateral (select case when m.day is not null then greatest(m.day, t.yesterday - $1::integer) end as last
                from (select max(s.day) as day from stored_day s) m) l
            cross join lateral (select g.day::date as day
                from generate_series(coalesce(l.last + 1, t.yesterday), t.yesterday, interval '1 day') g(day)) d
            join output_use u on u.day <= d.day
            group by 1, 2 having sum(u.bytes) > 0
            on conflict do nothing",
        MOST_DAYS
    );
    Ok(patient("stored_day.measure", query.execute(db.pool())).await?.rows_affected())
}

/// Forgets days that ended more than `retention_days` days ago: they are counted.
///
/// # Errors
/// When the database cannot answer.
pub async fn forget(db: &SchedulerDb, retention_days: u32) -> Result<u64, StoreError> {
    let days = i32::try_from(retention_days).unwrap_or(i32::MAX).saturating_add(1);
    let query = sqlx::query!(
        "delete from stored_day where day < (now() at time zone 'UTC')::date - $1::integer",
        days
    );
    Ok(named("stored_day.forget", query.execute(db.pool())).await?.rows_affected())
}
