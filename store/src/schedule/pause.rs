//! Pauses a schedule: its due times come and are written down, and make no task.

use super::lock::lock_to_edit;
use super::record::{Pause, ScheduleRecord};
use super::span;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::time::Timestamp;
use serde_json::json;
use sqlx::PgConnection;

/// Pauses the tenant's schedule of this name; one that is paused stays as it is, with its first reason.
///
/// # Errors
/// When the database cannot answer.
pub async fn pause(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    because: Option<&str>,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let Some((mut schedule, at)) = lock_to_edit(&mut tx, scope, name).await? else {
        return Ok(None);
    };
    if schedule.paused.is_some() {
        return Ok(Some(schedule));
    }
    span::keep(&mut tx, &mut schedule, at, false).await?;
    let (by, because) = (scope.by().actor.into(), because.map(str::to_owned));
    schedule.paused = Some(Pause { at, by, because: because.clone() });
    store(&mut tx, &mut schedule, at).await?;
    let act = Act::new(AuditAction::SchedulePause, name).to(json!({"because": because}));
    audit::record(&mut tx, scope, act).await?;
    named("commit", tx.commit()).await?;
    Ok(Some(schedule))
}

/// Stores that `schedule` is paused, or is not, from `at` on, as a version of its own, and the failures that it has in a row.
pub(super) async fn store(
    tx: &mut PgConnection,
    schedule: &mut ScheduleRecord,
    at: Timestamp,
) -> Result<(), StoreError> {
    schedule.version += 1;
    schedule.updated_at = at;
    let paused = schedule.paused.as_ref();
    let query = sqlx::query!(
        "update schedule set paused_at = $2, paused_by = $3, paused_because = $4, version = $5, updated_at = $6,
                failures_in_row = $7 where id = $1",
        schedule.id.uuid(),
        paused.map(|pause| pause.at),
        paused.map(|pause| pause.by.to_string()),
        paused.and_then(|pause| pause.because.as_deref()),
        schedule.version,
        schedule.updated_at,
        i32::try_from(schedule.failures_in_row).unwrap_or(i32::MAX)
    );
    named("schedule.pause", query.execute(tx)).await.map(|_| ())
}
