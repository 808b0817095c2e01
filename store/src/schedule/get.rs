//! One schedule, by its name.

use super::record::{ScheduleRecord, ScheduleRow};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};

/// The tenant's schedule of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        ScheduleRow,
        "select tenant_id, id, name, version, timing, template, overlap, misfire, created_at, updated_at, created_by,
            paused_at, paused_by, paused_because, due_at, fire_at, fires, recent, recent_runs, awaits, tzdb, ended_at,
            pause_after_failures, failures_in_row, timing_since, has_spans
            from schedule where tenant_id = $1 and name = $2",
        scope.tenant().uuid(),
        name
    );
    let row = named("schedule.get", query.fetch_optional(&mut *tx)).await?;
    row.map(TryInto::try_into).transpose()
}
