//! Due times that were found by another release of the time zone data, or by other rules.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{ScheduleId, TenantId};
use domain::schedule::{Coming, rules_version};
use domain::time::Timestamp;
use std::collections::HashSet;

/// A schedule whose due time is to be found anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The tenant.
    pub tenant: TenantId,
    /// What its owner calls it.
    pub name: String,
    /// Its due time.
    pub due_at: Timestamp,
    /// When that is to be fired: where a shard was left off.
    pub fire_at: Timestamp,
    /// What decides when, as JSON.
    pub timing: String,
    /// The instant after which its timing gives due times.
    pub due_after: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// The version of the rules by which its due time was found; see [`rules_version`].
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
        r#"select id, tenant_id, name, due_at as "due_at!", fire_at as "fire_at!", timing, created_at, timing_since, tzdb from schedule
            where shard = $1 and fire_at >= $2 and (fire_at, id) > ($2, $3) and tzdb <> $4 and not has_spans order by fire_at, id limit $5"#,
        shard,
        after.0,
        after.1.uuid(),
        rules_version(),
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
        due_after: row.timing_since.unwrap_or(row.created_at),
        created_at: row.created_at,
        tzdb: row.tzdb,
    });
    Ok(outdated.collect())
}

/// When a schedule is due by the present release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedDue {
    /// The schedule.
    pub schedule: ScheduleId,
    /// When it was due.
    pub was: Timestamp,
    /// When it is due; none: it is over.
    pub next: Option<Coming>,
}

/// Sets the due times of those that are due still when they were. Says which these are.
///
/// # Errors
/// When the database cannot answer.
pub async fn move_due(
    db: &SchedulerDb,
    moves: &[MovedDue],
) -> Result<HashSet<ScheduleId>, StoreError> {
    let mut sorted = moves.to_vec();
    sorted.sort_unstable_by_key(|one| one.schedule);
    let ids: Vec<_> = sorted.iter().map(|one| one.schedule.uuid()).collect();
    let was: Vec<_> = sorted.iter().map(|one| one.was).collect();
    let due_at: Vec<_> = sorted.iter().map(|one| one.next.map(|next| next.due_at)).collect();
    let fire_at: Vec<_> = sorted.iter().map(|one| one.next.map(|next| next.fire_at)).collect();
    let query = sqlx::query_scalar!(
        "update schedule s set due_at = i.due_at, fire_at = i.fire_at, tzdb = $5,
                ended_at = case when i.due_at is null then clock_timestamp() end
            from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[]) as i(id, was, due_at, fire_at)
            where s.id = any (array[i.id]) and s.due_at = i.was returning s.id",
        &ids,
        &was,
        &due_at as &[Option<Timestamp>],
        &fire_at as &[Option<Timestamp>],
        rules_version()
    );
    let rows = named("fire.move_due", query.fetch_all(db.pool())).await?;
    Ok(rows.into_iter().map(ScheduleId).collect())
}
