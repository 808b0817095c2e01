//! Fires the due times of a past range that made no task, at a pace: also while the schedule is paused, and whatever its overlap says.

use super::lock::{lock, now, reckoner};
use super::record::ScheduleRecord;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use chrono::TimeDelta;
use domain::schedule::{Reckoner, Steps};
use domain::time::Timestamp;
use runtime::low_priority;
use serde_json::json;
use sqlx::PgConnection;
use std::collections::HashSet;

/// Due times that one backfill may have.
pub const MOST_BACKFILLED: u32 = 10_000;

/// A backfill to begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backfill {
    /// Due times from this one on.
    pub from: Timestamp,
    /// Up to this one, which is not included and not after now.
    pub to: Timestamp,
    /// Only say what it would do.
    pub dry_run: bool,
    /// Tasks made a second, above 0.
    pub per_second: f64,
}

/// What a backfill does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackfillPlan {
    /// Due times of the range.
    pub due: u32,
    /// Those among them that have made nothing, and will.
    pub to_fire: u32,
    /// The first and the last of these.
    pub span: Option<(Timestamp, Timestamp)>,
}

/// What became of a backfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackfillAnswer {
    /// It will be done so; or would be, in a dry run.
    Planned(BackfillPlan),
    /// The range has more than [`MOST_BACKFILLED`] due times, or they take too long to find.
    TooMany,
    /// Another backfill of the schedule is not done yet.
    Busy,
    /// The tenant has none of this name.
    NotFound,
}

/// Begins a backfill of the tenant's schedule of this name; its tasks come by `key_id`. Wake the shards' owners when it is `Planned`.
///
/// # Errors
/// When the database cannot answer.
pub async fn backfill(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    backfill: Backfill,
    key_id: &str,
) -> Result<BackfillAnswer, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let Some(schedule) = lock(&mut tx, scope, name).await? else {
        return Ok(BackfillAnswer::NotFound);
    };
    // What comes of itself is left to come.
    let now = now(&mut tx).await?;
    let waits = schedule.coming().map_or(now, |coming| {
        // Where fires wait, others may that were due so long before.
        coming.due_at.min(coming.fire_at - schedule.timing.jitter)
    });
    let until = backfill.to.min(now).min(waits);
    // Nothing is due before 1970, and its first instant may be due itself.
    let reached = backfill.from.max(Timestamp::UNIX_EPOCH) - TimeDelta::microseconds(1);
    let reckoner = reckoner(schedule.id, &schedule.timing, schedule.created_at)?;
    let Some(due) = due_between(reckoner, reached, until).await? else {
        return Ok(BackfillAnswer::TooMany);
    };
    let fired = fired(&mut tx, &schedule, &due).await?;
    let to_fire: Vec<_> = due.iter().filter(|at| !fired.contains(at)).collect();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let plan = BackfillPlan {
        due: count(due.len()),
        to_fire: count(to_fire.len()),
        span: to_fire.first().zip(to_fire.last()).map(|(first, last)| (**first, **last)),
    };
    if backfill.dry_run || plan.to_fire == 0 {
        return Ok(BackfillAnswer::Planned(plan));
    }
    let query = sqlx::query!(
        "insert into schedule_backfill (schedule_id, tenant_id, reached, until, per_second, key_id)
            values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
        schedule.id.uuid(),
        scope.tenant().uuid(),
        reached,
        until,
        backfill.per_second,
        key_id
    );
    if named("schedule.backfill", query.execute(&mut *tx)).await?.rows_affected() == 0 {
        return Ok(BackfillAnswer::Busy);
    }
    let details = json!({"from": backfill.from, "to": until, "fires": plan.to_fire, "per_second": backfill.per_second});
    audit::record(&mut tx, scope, Act::new(AuditAction::ScheduleBackfill, name).to(details))
        .await?;
    named("commit", tx.commit()).await?;
    Ok(BackfillAnswer::Planned(plan))
}

/// The due times after `reached` and before `until`, found on a thread that may take its time; `None`: too many, or it takes too long.
async fn due_between(
    reckoner: Reckoner,
    reached: Timestamp,
    until: Timestamp,
) -> Result<Option<Vec<Timestamp>>, StoreError> {
    let find = move || {
        let (mut walk, steps) = (reckoner.walk(), Steps::new(Steps::OF_A_PREVIEW));
        let (mut after, mut due) = (reached, Vec::new());
        while let Some(next) = walk.next_after(after, &steps).filter(|next| next.at < until) {
            after = next.at;
            due.push(next.at);
            if due.len() > MOST_BACKFILLED as usize {
                return None;
            }
        }
        (!steps.is_out()).then_some(due)
    };
    low_priority::spawn(find).await.map_err(|_| StoreError::Busy)
}

/// Those of `due` that have made a task or started a run.
async fn fired(
    tx: &mut PgConnection,
    schedule: &ScheduleRecord,
    due: &[Timestamp],
) -> Result<HashSet<Timestamp>, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select f.due_at as "due_at!" from unnest($3::timestamptz[]) as i(due_at)
            cross join lateral (
                select o.due_at from schedule_fire o
                where o.tenant_id = $1 and o.schedule_id = $2 and o.due_at = i.due_at
                    and (o.task_id is not null or o.run_id is not null) limit 1) f"#,
        schedule.tenant.uuid(),
        schedule.id.uuid(),
        due
    );
    Ok(named("schedule.fired", query.fetch_all(tx)).await?.into_iter().collect())
}
