//! Pauses a schedule whose JSON cannot be read, or makes tasks that the database refuses, so that it harms no other and is not tried
//! again and again.
//!
//! Called by whoever fires, resumes or backfills one. It has no due time any more, and its backfill is over. Its owner deletes it and
//! puts it again.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::ScheduleId;
use tracing::warn;

/// A schedule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The schedule.
    pub schedule: ScheduleId,
    /// In which version; `None`: in any.
    pub version: Option<i64>,
    /// What of it, a word such as `timing`.
    pub what: &'static str,
}

/// Pauses it, unless it has changed since it was read.
///
/// # Errors
/// When the database cannot answer.
pub async fn pause_unreadable(db: &SchedulerDb, unreadable: &Unreadable) -> Result<(), StoreError> {
    let Unreadable { schedule, version, what } = unreadable;
    let query = sqlx::query_scalar!(
        r#"with gone as (
                delete from schedule s where s.id = $1 and s.version = coalesce($2, s.version) and s.deleted_at is not null
            ), paused as (
                update schedule s set paused_at = coalesce(s.paused_at, clock_timestamp()), paused_by = 'system',
                    paused_because = 'malformed: ' || $3::text || ' cannot be read', due_at = null, fire_at = null, awaits = null,
                    version = s.version + 1, updated_at = clock_timestamp(), has_spans = false
                where s.id = $1 and s.version = coalesce($2, s.version) and s.deleted_at is null
                returning s.id
            ), over as (
                delete from schedule_backfill b using paused p where b.schedule_id = p.id
            ), earlier as (
                delete from schedule_span n using paused p where n.schedule_id = p.id
            )
            select id from paused"#,
        schedule.uuid(),
        *version,
        *what
    );
    let paused = named("fire.pause_unreadable", query.fetch_optional(db.pool())).await?;
    if paused.is_some() {
        warn!(schedule.id = %schedule, what, "Schedule `{schedule}` is paused: its {what} cannot be read");
    }
    Ok(())
}
