//! Another release of the time zone data, or another meaning of timings: due times are found anew, and what moved is told.
//!
//! A shard knows by which release its due times were found; its owner looks through it once when that is another. A due time moves by
//! the change and no further: from a few hours before the old one on is looked, so that no day has its due time twice.

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

/// Schedules looked at in one statement.
const PAGE: i64 = 500;
/// No zone's clocks were ever moved by more at once, but for a few that crossed the date line.
const MOST_MOVED: TimeDelta = TimeDelta::hours(3);

pub(super) struct Zones {
    pub db: SchedulerDb,
    pub shards: Arc<Shards>,
}

impl Zones {
    /// Looks through those shards whose due times are of another release. How many moved.
    pub(super) async fn look(&self, now: Timestamp) -> Result<u64, StoreError> {
        let release = rules_version();
        let (mut looked, mut moved) = (0_u64, 0_u64);
        for at in self.shards.outdated(release) {
            let mut after = (Timestamp::UNIX_EPOCH, ScheduleId(uuid::Uuid::nil()));
            loop {
                let page = outdated(&self.db, at.shard, after, PAGE).await?;
                let Some(last) = page.last() else { break };
                after = (last.fire_at, last.schedule);
                let found: Vec<_> = page.iter().filter_map(|old| find_anew(old, now)).collect();
                let stood = move_due(&self.db, &found).await?;
                looked += page.len() as u64;
                for (old, new) in page.iter().filter_map(|old| {
                    let new = found.iter().find(|new| new.schedule == old.schedule)?;
                    Some((old, new))
                }) {
                    if stood.contains(&old.schedule) && tell(old, new) {
                        moved += 1;
                    }
                }
            }
            set_tzdb(&self.db, self.shards.node(), at, release).await?;
            self.shards.is_of(at.shard, release);
        }
        if looked > 0 {
            info!(
                release,
                schedules = looked,
                moved,
                "Time zones are those of release {release}: of {looked} schedules, {moved} are due at another time"
            );
        }
        Ok(moved)
    }
}

/// When `old` is due by the present release; none where it cannot be read.
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
    // What has come is fired as it stands, and so is what counts from the end of a task.
    let next = if old.due_at <= now || reckoner.is_fixed_delay() {
        Some(Coming { fire_at: old.fire_at, due_at: old.due_at })
    } else {
        let source = Source { reckoner: &reckoner, after: old.due_after, until: None };
        let moved = || first_coming(id, &[source], Coming::after(now.max(old.due_at - MOST_MOVED)));
        let added = added(&reckoner, old, now).map(|due| Coming::of(id, &reckoner, due.at));
        added.or_else(moved)
    };
    let next = next.map(|next| (next.due_at, next.fire_at));
    Some(MovedDue { schedule: id, was: old.due_at, next })
}

/// A due time before that of `old` which its timing did not have when it meant something else. Those stand where clocks change.
fn added(reckoner: &Reckoner, old: &Outdated, now: Timestamp) -> Option<DueTime> {
    if is_same_meaning(&old.tzdb) {
        return None;
    }
    let at_change = |due: &DueTime| due.marks.shifted || due.marks.again;
    reckoner.next_after(now).filter(|due| due.at < old.due_at && at_change(due))
}

/// Tells of a due time that is another now; false where it is the same.
fn tell(old: &Outdated, new: &MovedDue) -> bool {
    let to = new.next.map(|(due_at, _)| due_at);
    if to == Some(old.due_at) {
        return false;
    }
    let (id, name, was, tzdb) = (old.schedule, &old.name, old.due_at, &old.tzdb);
    let to = to.map_or_else(|| "never again".to_owned(), |at| at.to_rfc3339());
    info!(schedule.id = %id, tenant.id = %old.tenant, schedule.name = name, %was, to, "Schedule `{name}` was due at {was} by time zones of {tzdb}; it is due {to}");
    true
}
