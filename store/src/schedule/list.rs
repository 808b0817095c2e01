//! A tenant's schedules, by name.

use super::record::{ScheduleRecord, ScheduleRow};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{Bounded, StoreError, TenantScope};

/// How much is read.
#[derive(Debug, Clone, Copy)]
pub struct ListLimit {
    /// Schedules.
    pub rows: u32,
    /// Bytes of their timings and tasks; one schedule may have more.
    pub bytes: usize,
}

/// Schedules by name, as the database sorts bytes; those after `after`, where one is given.
///
/// # Errors
/// When the database cannot answer, or one of them cannot be read.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    after: Option<&str>,
    limit: ListLimit,
) -> Result<Bounded<ScheduleRecord>, StoreError> {
    // No name is empty.
    let after = after.unwrap_or_default();
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        ScheduleRow,
        "select p.tenant_id, p.id, p.name, p.version, p.timing, p.template, p.overlap, p.misfire, p.created_at, p.updated_at, p.created_by,
            p.paused_at, p.paused_by, p.paused_because, p.due_at, p.fire_at, p.fires, p.recent, p.recent_runs, p.awaits, p.tzdb, p.ended_at,
            p.pause_after_failures, p.failures_in_row, p.timing_since, p.has_spans
            from (select q.*, sum(octet_length(q.timing) + octet_length(q.template)) over (order by q.name rows unbounded preceding)
                    - octet_length(q.timing) - octet_length(q.template) as before
                from (select * from schedule
                    where tenant_id = $1 and name > $2 and deleted_at is null
                    order by name limit $3) q) p
            where p.before < $4 order by p.name",
        scope.tenant().uuid(),
        after,
        i64::from(limit.rows),
        i64::try_from(limit.bytes).unwrap_or(i64::MAX)
    );
    let rows = patient("schedule.list", query.fetch_all(&mut *tx)).await?;
    let read: usize = rows.iter().map(|row| row.timing.len() + row.template.len()).sum();
    let more = read >= limit.bytes && rows.len() < limit.rows as usize;
    let rows = rows.into_iter().map(ScheduleRecord::try_from).collect::<Result<_, _>>()?;
    Ok(Bounded { rows, more })
}
