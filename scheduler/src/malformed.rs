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

/// Pages of 8 KiB that are read in one statement: some 50 ms.
const PAGES: i64 = 4096;
/// Rows that are ended in one tick.
const MOST: i64 = 500;
/// Between two looks: this many times what one took, within these bounds.
const RESTS: u32 = 20;
const LEAST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(10);

pub(crate) struct MalformedTick {
    db: SchedulerDb,
    leader: Arc<Leader>,
    /// Where it goes on in each table.
    tasks: i64,
    schedules: i64,
}

impl MalformedTick {
    pub(crate) fn new(db: SchedulerDb, leader: Arc<Leader>) -> Self {
        Self { db, leader, tasks: 0, schedules: 0 }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if self.leader.epoch().is_none() {
            return Ok(TickOutcome::idle(0));
        }
        let began = monotonic();
        let page = Page { from: self.tasks, pages: PAGES };
        let (bad, next) = malformed_of_pages(&self.db, page, MOST).await?;
        let full = i64::try_from(bad.len()).is_ok_and(|found| found >= MOST);
        let mut done = 0;
        if !bad.is_empty() {
            for (_, task) in &bad {
                tell("task", &task.to_string(), Malformed::Row.reason());
            }
            done += malformed(&self.db, &bad, Malformed::Row).await?;
            MOVED.with(&["malformed"]).inc_by(done);
        }
        // Where more were found than are ended at once the same pages are looked at again.
        self.tasks = if full { self.tasks } else { next };
        let page = Page { from: self.schedules, pages: PAGES };
        let (paused, next) = pause_unsound(&self.db, page, MOST).await?;
        for schedule in &paused {
            tell("schedule", &schedule.schedule.to_string(), "row");
        }
        done += paused.len() as u64;
        self.schedules = next;
        let rest = (began.elapsed() * RESTS).clamp(LEAST_REST, LONGEST_REST);
        Ok(TickOutcome::after(rest, done))
    }
}
