//! The loops of workflow runs.

use super::Loops;
use super::due::quick;
use crate::workflow::{GatesTick, RunsTick, StopTick};
use bus::Topic;
use runtime::tick::Ticker;
use std::time::Duration;

/// Poll interval of gates, behind wake-ups: of a node that waits for nothing but a value.
const GATES_POLL: Duration = Duration::from_millis(100);
/// Poll interval of the tally.
const RUNS_POLL: Duration = Duration::from_millis(200);

impl Loops {
    pub(super) fn run_workflows(&self, cancel_grace: Duration) {
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let gates = GatesTick::new(self.db.clone(), self.bus.clone());
        let ticker = Ticker::new("gates", quick(GATES_POLL))
            .wake(wakeups.notify(Topic::ShardOwner))
            .health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("gates", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || gates.tick()).await;
        });
        let runs = RunsTick::new(self.db.clone());
        let ticker = Ticker::new("workflow_runs", quick(RUNS_POLL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("workflow_runs", async move {
            ticker.run(shutdown, || runs.tick()).await;
        });
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let stop = StopTick::new(self.db.clone(), self.bus.clone(), cancel_grace);
        let ticker = Ticker::new("stopped_runs", quick(RUNS_POLL))
            .wake(wakeups.notify(Topic::ShardOwner))
            .health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("stopped_runs", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || stop.tick()).await;
        });
    }
}
