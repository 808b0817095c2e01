//! Locks a schedule for whoever changes it.

use super::record::{ScheduleRecord, ScheduleRow};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::ScheduleId;
use domain::schedule::{Coming, Reckoner, Source, Timing, first_coming};
use domain::time::Timestamp;
use runtime::low_priority;
use sqlx::PgConnection;

/// The tenant's schedule of this name, which nobody else changes or fires until the transaction (of an `ApiDb`) ends.
pub(super) async fn lock(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let query = sqlx::query_as!(
        ScheduleRow,
        "select tenant_id, id, name, version, timing, template, overlap, misfire, created_at, updated_at, created_by,
            paused_at, paused_by, paused_because, due_at, fire_at, fires, recent, recent_runs, awaits, tzdb, ended_at,
            pause_after_failures, failures_in_row, timing_since, has_spans
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

/// What a schedule fires first whose timing holds from `after` on; `None`: nothing, ever. As many due times are found as come within
/// its jitter: on a thread that may take its time.
pub(super) async fn first(
    id: ScheduleId,
    reckoner: Reckoner,
    after: Timestamp,
) -> Result<Option<Coming>, StoreError> {
    let find = move || {
        let source = Source { reckoner: &reckoner, after, until: None };
        first_coming(id, &[source], Coming::after(after)).or_else(|| {
            // A fixed delay counts from its first task's end, and where there is none, from here.
            reckoner.after_end(after).map(|due| Coming::of(id, &reckoner, due.at))
        })
    };
    low_priority::spawn(find).await.map_err(|_| StoreError::Busy)
}

/// [`lock`] for whoever edits the schedule. Where it counts from the end of a task, and that has ended, it is due as a scheduler would
/// have it, if it came before the edit. Also the instant of the edit.
pub(super) async fn lock_to_edit(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<(ScheduleRecord, Timestamp)>, StoreError> {
    let Some(mut record) = lock(&mut *tx, scope, name).await? else { return Ok(None) };
    let at = now(&mut *tx).await?;
    let Some(made) = record.awaits else { return Ok(Some((record, at))) };
    let query = sqlx::query_scalar!(
        "select coalesce(
                (select h.finished_at from task_history h
                    where h.tenant_id = $1 and h.id = $2 and not exists (select from task k where k.tenant_id = $1 and k.id = $2) limit 1),
                (select r.finished_at from workflow_run r where r.tenant_id = $1 and r.id = $2 limit 1))",
        scope.tenant().uuid(),
        made
    );
    let ended = named("schedule.awaited", query.fetch_all(&mut *tx)).await?.pop().flatten();
    let reckoner = reckoner(record.id, &record.timing, record.created_at)?;
    let due = ended.and_then(|ended| reckoner.after_end(ended)).filter(|due| due.at <= at);
    if let Some(due) = due {
        let coming = Coming::of(record.id, &reckoner, due.at);
        (record.next_at, record.next_fire_at) = (Some(coming.due_at), Some(coming.fire_at));
        record.awaits = None;
        let query = sqlx::query!(
            "update schedule set due_at = $2, fire_at = $3, awaits = null where id = $1",
            record.id.uuid(),
            coming.due_at,
            coming.fire_at
        );
        named("schedule.resume_after", query.execute(tx)).await?;
    }
    Ok(Some((record, at)))
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
    Reckoner::stored(timing, created_at).map_err(|error| StoreError::Malformed {
        what: "timing",
        row: id.to_string(),
        value: error.to_string(),
    })
}
