//! Counts consecutive failures of schedules that pause after too many: of tasks from the event log, of runs from their rows.

use super::poll_interval::PollInterval;
use crate::metrics::EVENT_LAG;
use domain::schedule::Made;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::event;
use store::fire::{PausedForFailures, count_ends, count_run_ends};
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
        let runs = count_run_ends(&self.db, i64::try_from(BATCH).unwrap_or(i64::MAX)).await?;
        counted.paused.iter().chain(&runs.paused).for_each(report);
        self.poll_interval.record(waiting.is_some() || runs.ends > 0);
        let ends = (counted.ends + runs.ends) as u64;
        Ok(if counted.ends.max(runs.ends) >= BATCH {
            TickOutcome::now(ends)
        } else {
            TickOutcome::after(self.poll_interval.pause(), ends)
        })
    }
}

fn report(paused: &PausedForFailures) {
    let (name, failures) = (&paused.name, paused.failures);
    let (kind, last) = match paused.last {
        Made::Task(id) => ("tasks", id.to_string()),
        Made::Run(id) => ("runs", id.to_string()),
    };
    info!(schedule.id = %paused.schedule, tenant.id = %paused.tenant, schedule.name = name, failures, last,
        "Schedule `{name}` is paused: {failures} {kind} in a row did not succeed, `{last}` being the last");
}
