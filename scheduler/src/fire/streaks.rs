//! Counts consecutive failures of tasks of schedules that pause after too many, from the event log.

use super::poll_interval::PollInterval;
use crate::metrics::EVENT_LAG;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::event;
use store::fire::count_ends;
use tracing::info;

/// Ends counted in one transaction.
const BATCH: usize = 500;

pub(crate) struct StreakTick {
    db: SchedulerDb,
    poll_interval: PollInterval,
}

impl StreakTick {
    pub(crate) fn new(db: SchedulerDb) -> Self {
        Self { db, poll_interval: PollInterval::default() }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        let waiting = event::lag(&self.db).await?;
        EVENT_LAG.with(&["schedules"]).set(waiting.unwrap_or_default().as_secs_f64());
        let counted = match waiting {
            Some(_) => count_ends(&self.db, i64::try_from(BATCH).unwrap_or(i64::MAX)).await?,
            None => Default::default(),
        };
        for paused in counted.paused {
            let (name, failures, last) = (&paused.name, paused.failures, paused.last);
            info!(schedule.id = %paused.schedule, tenant.id = %paused.tenant, schedule.name = name, failures, task.id = %last,
                "Schedule `{name}` is paused: {failures} tasks in a row did not succeed, `{last}` being the last");
        }
        self.poll_interval.record(waiting.is_some());
        let ends = counted.ends as u64;
        Ok(if counted.ends >= BATCH {
            TickOutcome::now(ends)
        } else {
            TickOutcome::after(self.poll_interval.pause(), ends)
        })
    }
}
