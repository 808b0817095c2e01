//! Resumes a paused schedule: from now on its due times make tasks; those of the pause do not.

use super::lock::lock_to_edit;
use super::pause::store;
use super::record::ScheduleRecord;
use super::span;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};

/// Resumes the tenant's schedule of this name; one that is not paused stays as it is.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let Some((mut schedule, at)) = lock_to_edit(&mut tx, scope, name).await? else {
        return Ok(None);
    };
    if schedule.paused.is_none() {
        return Ok(Some(schedule));
    }
    span::keep(&mut tx, &mut schedule, at, false).await?;
    schedule.paused = None;
    schedule.failures_in_row = 0;
    store(&mut tx, &mut schedule, at).await?;
    audit::record(&mut tx, scope, Act::new(AuditAction::ScheduleResume, name)).await?;
    named("commit", tx.commit()).await?;
    Ok(Some(schedule))
}
