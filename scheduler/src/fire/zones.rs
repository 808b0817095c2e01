//! New time zone data or new timing rules: computes due times again and logs those that moved.
//!
//! Each shard records the release of its due times; its owner updates it once after a change. The search starts a few
//! hours before the old due time, so that a due time moves only by the change and no day has it twice.

use super::shards::Shards;
use chrono::TimeDelta;
use domain::id::ScheduleId;
use domain::schedule::{
    Coming, DueTime, Reckoner, Source, Timing, first_coming, is_same_meaning, rules_version,
};
use domain::time::Timestamp;
use std::sync::Arc;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{MovedDue, Outdated, move_due, outdated};
use store::shard::set_tzdb;
use tracing::{error, info};

/// Schedules per statement.
const PAGE: i64 = 500;
/// Longest clock change of any zone, except for moves over the date line.
const MOST_MOVED: TimeDelta = TimeDelta::hours(3);

pub(super) struct Zones {
    pub db: SchedulerDb,
    pub shards: Arc<Shards>,
}

impl Zones {
    /// Updates shards of another release; returns the number of moved due times.
    pub(super) async fn update(&self, now: Timestamp) -> Result<u64, StoreError> {
        let release = rules_version();
        let (mut checked, mut moved) = (0_u64, 0_u64);
        for at in self.shards.outdated(release) {
            let mut after = (Timestamp::UNIX_EPOCH, ScheduleId(uuid::Uuid::nil()));
            loop {
                let page = outdated(&self.db, at.shard, after, PAGE).await?;
                let Some(last) = page.last() else { break };
                after = (last.fire_at, last.schedule);
                let found: Vec<_> = page.iter().filter_map(|old| find_anew(old, now)).collect();
                let moved_ids = move_due(&self.db, &found).await?;
                checked += page.len() as u64;
                for (old, new) in page.iter().filter_map(|old| {
                    let new = found.iter().find(|new| new.schedule == old.schedule)?;
                    Some((old, new))
                }) {
                    if moved_ids.contains(&old.schedule) && log_move(old, new) {
                        moved += 1;
                    }
                }
            }
            set_tzdb(&self.db, self.shards.node(), at, release).await?;
            self.shards.set_release(at.shard, release);
        }
        if checked > 0 {
            info!(
                release,
                schedules = checked,
                moved,
                "Time zones are those of release {release}: of {checked} schedules, {moved} are due at another time"
            );
        }
        Ok(moved)
    }
}

/// The due time of `old` by the current release; `None` if it cannot be parsed.
fn find_anew(old: &Outdated, now: Timestamp) -> Option<MovedDue> {
    let id = old.schedule;
    let read = store::schedule::read_json::<Timing>("timing", id, &old.timing)
        .and_then(|timing| store::schedule::reckoner(id, &timing, old.created_at));
    let reckoner = match read {
        Ok(read) => read,
        Err(error) => {
            error!(schedule.id = %id, %error, "Schedule `{id}` cannot be read; its due time stays");
            return None;
        }
    };
    // A due time in the past stays, and so does a fixed delay.
    let next = if old.due_at <= now || reckoner.is_fixed_delay() {
        Some(Coming { fire_at: old.fire_at, due_at: old.due_at })
    } else {
        let source = Source { reckoner: &reckoner, after: old.due_after, until: None };
        let moved = || first_coming(id, &[source], Coming::after(now.max(old.due_at - MOST_MOVED)));
        let added = added(&reckoner, old, now).map(|due| Coming::of(id, &reckoner, due.at));
        added.or_else(moved)
    };
    Some(MovedDue { schedule: id, was: old.due_at, next })
}

/// A due time before `old` that exists only by the new rules, at a clock change.
fn added(reckoner: &Reckoner, old: &Outdated, now: Timestamp) -> Option<DueTime> {
    if is_same_meaning(&old.tzdb) {
        return None;
    }
    let at_change = |due: &DueTime| due.marks.shifted || due.marks.again;
    reckoner.next_after(now).filter(|due| due.at < old.due_at && at_change(due))
}

/// Logs a moved due time; false if unchanged.
fn log_move(old: &Outdated, new: &MovedDue) -> bool {
    let to = new.next.map(|next| next.due_at);
    if to == Some(old.due_at) {
        return false;
    }
    let (id, name, was, tzdb) = (old.schedule, &old.name, old.due_at, &old.tzdb);
    let to = to.map_or_else(|| "never again".to_owned(), |at| at.to_rfc3339());
    info!(schedule.id = %id, tenant.id = %old.tenant, schedule.name = name, %was, to, "Schedule `{name}` was due at {was} by time zones of {tzdb}; it is due {to}");
    true
}
