//! A tenant's schedules, by name.

use super::record::{Row, ScheduleRecord};
use crate::connect::ApiDb;
use crate::malformed::tell;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::ScheduleId;

/// How often a page is filled up that had rows nobody can read.
const FILLS: usize = 3;

/// Schedules by name, as the database sorts bytes; those after `after`, where one is given. One that cannot be read is left out and
/// told of.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<ScheduleRecord>, StoreError> {
    // No name is empty.
    let (mut schedules, mut after) = (Vec::new(), after.unwrap_or_default().to_owned());
    for _ in 0..FILLS {
        let left = limit.saturating_sub(u32::try_from(schedules.len()).unwrap_or(u32::MAX));
        let rows = page(db, scope, &after, left).await?;
        let (last, count) = (rows.last().map(|row| row.name.clone()), rows.len());
        let before = schedules.len();
        schedules.extend(rows.into_iter().filter_map(read));
        let unread = count - (schedules.len() - before);
        match last {
            Some(last) if unread > 0 && count >= left as usize => after = last,
            _ => break,
        }
    }
    Ok(schedules)
}

fn read(row: Row) -> Option<ScheduleRecord> {
    let id = ScheduleId(row.id).to_string();
    ScheduleRecord::try_from(row)
        .map_err(|_| tell("schedule", &id, "a row that was asked for"))
        .ok()
}

async fn page(
    db: &ApiDb,
    scope: &TenantScope,
    after: &str,
    limit: u32,
) -> Result<Vec<Row>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        Row,
        "select tenant_id, id, name, version, timing, template, overlap, misfire, created_at, updated_at, created_by,
            paused_at, paused_by, paused_because, due_at, fire_at, fires, recent, awaits, tzdb, ended_at,
            pause_after_failures, failures_in_row, timing_since, has_spans
            from schedule where tenant_id = $1 and name > $2 and deleted_at is null and berth_schedule_is_sound(schedule) order by name limit $3",
        scope.tenant().uuid(),
        after,
        i64::from(limit)
    );
    patient("schedule.list", query.fetch_all(&mut *tx)).await
}
