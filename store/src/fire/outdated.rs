//! Due times that were found by another release of the time zone data.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{ScheduleId, TenantId};
use domain::schedule::tzdb_version;
use domain::time::Timestamp;

/// A schedule whose due time is to be found anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    /// Which.
    pub schedule: ScheduleId,
    /// Whose.
    pub tenant: TenantId,
    /// What its owner calls it.
    pub name: String,
    /// Its due time.
    pub due_at: Timestamp,
    /// When that is to be fired: where a shard was left off.
    pub fire_at: Timestamp,
    /// What decides when, as JSON.
    pub timing: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The release by which its due time was found.
    pub tzdb: String,
}

/// The next schedules of `shard` that are to be fired after `after`, whose due time is another release's, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn outdated(
    db: &SchedulerDb,
    shard: i16,
    after: (Timestamp, ScheduleId),
    limit: i64,
) -> Result<Vec<Outdated>, StoreError> {
    let query = sqlx::query!(
        r#"select id, tenant_id, name, due_at as "due_at!", fire_at as "fire_at!", timing, created_at, tzdb from schedule
            where shard = $1 and fire_at >= $2 and (fire_at, id) > ($2, $3) and tzdb <> $4 order by fire_at, id limit $5"#,
        shard,
        after.0,
        after.1.uuid(),
        tzdb_version(),
        limit
    );
    let rows = named("fire.outdated", query.fetch_all(db.pool())).await?;
    let outdated = rows.into_iter().map(|row| Outdated {
        schedule: ScheduleId(row.id),
        tenant: TenantId(row.tenant_id),
        name: row.name,
        due_at: row.due_at,
        fire_at: row.fire_at,
        timing: row.timing,
        created_at: row.created_at,
        tzdb: row.tzdb,
    });
    Ok(outdated.collect())
}

/// Sets the due time (and when that is to be fired) of a schedule that is due at `was` still; none: it is over. False where it is
/// not any more.
///
/// # Errors
/// When the database cannot answer.
pub async fn move_due(
    db: &SchedulerDb,
    schedule: ScheduleId,
    was: Timestamp,
    next: Option<(Timestamp, Timestamp)>,
) -> Result<bool, StoreError> {
    let query = sqlx::query!(
        "update schedule set due_at = $3, fire_at = $4, tzdb = $5,
                ended_at = case when $3::timestamptz is null then clock_timestamp() end
            where id = $1 and due_at = $2",
        schedule.uuid(),
        was,
        next.map(|(due_at, _)| due_at),
        next.map(|(_, fire_at)| fire_at),
        tzdb_version()
    );
    Ok(named("fire.move_due", query.execute(db.pool())).await?.rows_affected() == 1)
}
