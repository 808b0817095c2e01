//! Locks a schedule for whoever changes it.

use super::record::{Row, ScheduleRecord};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::ScheduleId;
use domain::schedule::{Reckoner, Timing, jitter};
use domain::time::Timestamp;
use sqlx::PgConnection;

/// The tenant's schedule of this name, which nobody else changes or fires until the transaction (of an `ApiDb`) ends.
pub(super) async fn lock(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        "select tenant_id, id, name, version, timing, template, overlap, misfire, created_at, updated_at, created_by,
            paused_at, paused_by, paused_because, due_at, fire_at, fires, recent, awaits, tzdb, ended_at,
            pause_after_failures, failures_in_row
            from schedule where tenant_id = $1 and name = $2 for no key update",
        scope.tenant().uuid(),
        name
    );
    named("schedule.lock", query.fetch_optional(tx)).await?.map(TryInto::try_into).transpose()
}

/// The database's time, now and not when the transaction began.
pub(super) async fn now(tx: &mut PgConnection) -> Result<Timestamp, StoreError> {
    let query = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#);
    Ok(named("schedule.now", query.fetch_all(tx)).await?.first().copied().unwrap_or_default())
}

/// When a schedule of `timing` is due first after `after`, and when that is to be fired; `None`: never.
pub(super) fn next(
    id: ScheduleId,
    timing: &Timing,
    reckoner: &Reckoner,
    after: Timestamp,
) -> Option<(Timestamp, Timestamp)> {
    let due_at = reckoner.next_after(after)?.at;
    Some((due_at, fire_at(id, timing, due_at)))
}

/// When a due time is to be fired.
pub(super) fn fire_at(id: ScheduleId, timing: &Timing, due_at: Timestamp) -> Timestamp {
    due_at + jitter(id, due_at, timing.jitter)
}

/// A stored timing, read.
///
/// # Errors
/// When another version wrote it.
pub fn reckoner(
    id: ScheduleId,
    timing: &Timing,
    created_at: Timestamp,
) -> Result<Reckoner, StoreError> {
    Reckoner::new(timing, created_at).map_err(|error| StoreError::Malformed {
        what: "timing",
        row: id.to_string(),
        value: error.to_string(),
    })
}
