//! Looks through live tasks and schedules for rows that nobody can work with, and ends or pauses them.
//!
//! The batcher's process looks, some pages at a time, at each table in turn. The statements of everybody else leave such rows out, so
//! that this is not urgent; what it costs is a small share of one connection, whatever the tables hold.

use crate::leader::Leader;
use crate::metrics::MOVED;
use domain::task::Malformed;
use runtime::clock::monotonic;
use runtime::tick::TickOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::pause_unsound;
use store::malformed::{Page, tell};
use store::task::{malformed_of_pages, transition::malformed};

/// Pages of 8 KiB that are read in one statement: a millisecond or two, so that nobody waits long for the processor that it takes.
const PAGES: i64 = 256;
/// Rows that are ended in one tick.
const MOST: i64 = 500;
/// Between two looks: this many times what one took, within these bounds.
const RESTS: u32 = 20;
const LEAST_REST: Duration = Duration::from_millis(20);
const LONGEST_REST: Duration = Duration::from_secs(10);
/// After both tables, at least.
const REST_OF_ROUND: Duration = Duration::from_secs(1);

pub(crate) struct MalformedTick {
    db: SchedulerDb,
    leader: Arc<Leader>,
    at: Place,
}

/// Where it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At this page of tasks, ...
    Tasks(i64),
    /// ... or of schedules.
    Schedules(i64),
}

impl Place {
    /// After a look that says at which page to go on, or that the table has no more.
    const fn next(self, page: Option<i64>) -> Self {
        match (self, page) {
            (Self::Tasks(_), Some(page)) => Self::Tasks(page),
            (Self::Tasks(_), None) => Self::Schedules(0),
            (Self::Schedules(_), Some(page)) => Self::Schedules(page),
            (Self::Schedules(_), None) => Self::Tasks(0),
        }
    }

    /// Both tables were looked through before this one.
    const fn is_first(self) -> bool {
        matches!(self, Self::Tasks(0))
    }
}

impl MalformedTick {
    pub(crate) fn new(db: SchedulerDb, leader: Arc<Leader>) -> Self {
        Self { db, leader, at: Place::Tasks(0) }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if self.leader.epoch().is_none() {
            return Ok(TickOutcome::idle(0));
        }
        let began = monotonic();
        let (done, next) = match self.at {
            Place::Tasks(from) => self.end_tasks(Page { from, pages: PAGES }).await?,
            Place::Schedules(from) => self.pause_schedules(Page { from, pages: PAGES }).await?,
        };
        self.at = self.at.next(next);
        let least = if self.at.is_first() { REST_OF_ROUND } else { LEAST_REST };
        Ok(TickOutcome::after((began.elapsed() * RESTS).clamp(least, LONGEST_REST), done))
    }

    /// Ends tasks of `page`; says how many, and where to go on, `None`: the table has no more.
    async fn end_tasks(&self, page: Page) -> Result<(u64, Option<i64>), StoreError> {
        let (bad, next) = malformed_of_pages(&self.db, page, MOST).await?;
        if bad.is_empty() {
            return Ok((0, (next > 0).then_some(next)));
        }
        for (_, task) in &bad {
            tell("task", &task.to_string(), Malformed::Row.reason());
        }
        let done = malformed(&self.db, &bad, Malformed::Row).await?;
        MOVED.with(&["malformed"]).inc_by(done);
        // Where more were found than are ended at once the same pages are looked at again.
        let full = i64::try_from(bad.len()).is_ok_and(|found| found >= MOST);
        Ok((done, if full { Some(page.from) } else { (next > 0).then_some(next) }))
    }

    /// The same for schedules, which are paused.
    async fn pause_schedules(&self, page: Page) -> Result<(u64, Option<i64>), StoreError> {
        let (paused, next) = pause_unsound(&self.db, page, MOST).await?;
        for schedule in &paused {
            tell("schedule", &schedule.schedule.to_string(), "row");
        }
        Ok((paused.len() as u64, (next > 0).then_some(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_goes_through_all_pages_of_both_tables() {
        let pages = [Some(256), Some(512), None, Some(256), None, Some(256)];
        let places = pages.into_iter().scan(Place::Tasks(0), |at, page| {
            *at = at.next(page);
            Some(*at)
        });
        let expected = [
            Place::Tasks(256),
            Place::Tasks(512),
            Place::Schedules(0),
            Place::Schedules(256),
            Place::Tasks(0),
            Place::Tasks(256),
        ];
        assert_eq!(places.collect::<Vec<_>>(), expected);
        assert_eq!(expected.map(Place::is_first), [false, false, false, false, true, false]);
    }
}
