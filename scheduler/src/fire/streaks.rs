//! Counts consecutive failures of tasks of schedules that pause after too many.
//!
//! Each tick reads a bounded number of tasks per shard, in rotation. The transition that ends a task does no extra
//! work.

use super::poll_interval::PollInterval;
use super::shards::Shards;
use domain::id::{ScheduleId, TaskId};
use runtime::tick::TickOutcome;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Followed, count_ends, followed};
use tracing::info;

/// Tasks per shard in one tick.
const EACH: usize = 50;

pub(crate) struct StreakTick {
    db: SchedulerDb,
    shards: Arc<Shards>,
    /// Where the last tick stopped; `None`: at the end.
    after: Option<TaskId>,
    poll_interval: PollInterval,
}

impl StreakTick {
    pub(crate) fn new(db: SchedulerDb, shards: Arc<Shards>) -> Self {
        Self { db, shards, after: None, poll_interval: PollInterval::default() }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        let shards: Vec<_> = self.shards.owned().iter().map(|at| at.shard).collect();
        if shards.is_empty() {
            return Ok(TickOutcome::idle(0));
        }
        let limit = i64::try_from(EACH).unwrap_or(i64::MAX);
        let page = followed(&self.db, &shards, self.after, limit).await?;
        self.after = reached(&page);
        self.poll_interval.record(!page.is_empty());
        let mut ends = BTreeMap::<ScheduleId, Vec<Followed>>::new();
        for end in page.into_iter().filter(|one| !one.lives) {
            ends.entry(end.schedule).or_default().push(end);
        }
        let mut counted = 0;
        for (id, ends) in ends {
            if let Some(paused) = count_ends(&self.db, &ends).await? {
                let (name, failures, last) = (&paused.name, paused.failures, paused.last);
                info!(schedule.id = %id, tenant.id = %paused.tenant, schedule.name = name, failures, task.id = %last,
                    "Schedule `{name}` is paused: {failures} tasks in a row did not succeed, `{last}` being the last");
            }
            counted += ends.len() as u64;
        }
        Ok(TickOutcome::after(self.poll_interval.pause(), counted))
    }
}

/// Where the next page begins: after the last task of the shard that advanced least, among those that may have more.
fn reached(page: &[Followed]) -> Option<TaskId> {
    let mut last = BTreeMap::<i16, (usize, TaskId)>::new();
    for one in page {
        let of = last.entry(one.shard).or_insert((0, one.task));
        *of = (of.0 + 1, of.1.max(one.task));
    }
    last.values().filter(|(count, _)| *count >= EACH).map(|(_, task)| *task).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn the_next_page_begins_where_the_fullest_shard_was_left_off() {
        let task = |n: usize| TaskId(Uuid::from_u128(n as u128));
        let of = |shard: i16, tasks: std::ops::Range<usize>| {
            tasks.map(move |n| Followed {
                shard,
                schedule: ScheduleId(Uuid::nil()),
                task: task(n),
                lives: true,
                end: None,
            })
        };
        assert_eq!(reached(&[]), None);
        assert_eq!(reached(&of(1, 0..EACH - 1).collect::<Vec<_>>()), None, "all were seen");
        let two: Vec<_> = of(1, 0..EACH).chain(of(2, 7..EACH + 7)).chain(of(3, 0..3)).collect();
        assert_eq!(reached(&two), Some(task(EACH - 1)));
    }
}
