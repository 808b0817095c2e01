//! A tenant's schedules, by name.

use super::record::{Row, ScheduleRecord};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};

/// Schedules by name, as the database sorts bytes; those after `after`, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<ScheduleRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    // No name is empty.
    let query = sqlx::query_as!(
        Row,
        "select tenant_id, id, name, version, timing, template, overlap, misfire, created_at, updated_at, created_by,
            paused_at, paused_by, paused_because, due_at, fire_at, fires, recent, awaits, tzdb, ended_at,
            pause_after_failures, failures_in_row
            from schedule where tenant_id = $1 and name > $2 order by name limit $3",
        scope.tenant().uuid(),
        after.unwrap_or_default(),
        i64::from(limit)
    );
    let rows = named("schedule.list", query.fetch_all(&mut *tx)).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}
