//! Schedules to store, and a scheduler that fires them by hand.

use super::world::World;
use domain::id::{NodeId, ScheduleId, TaskId};
use domain::schedule::{Made, Misfire, Outcome, Overlap, Spec, TaskTemplate, Timing};
use domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::fire::{Due, Facts, Verdict, VerdictRow, Written, window, write};
use store::schedule::PutSchedule;
use store::shard::{self, ShardEpoch};

pub const GRACE: Duration = Duration::from_secs(40);

pub fn template() -> TaskTemplate {
    testkit::schedules::noop_template("report")
}

/// A schedule that is due at three each morning.
pub fn new_schedule(name: &str) -> PutSchedule {
    PutSchedule {
        name: name.to_owned(),
        timing: Timing::of(vec![Spec::Cron("0 3 * * *".to_owned())]),
        template: template().into(),
        overlap: Overlap::Allow,
        misfire: Misfire::FireNextSoon,
        pause_after_failures: None,
        paused: None,
        created_by: "aaaaaaaaaaaa".to_owned().into(),
        if_version: None,
    }
}

/// Who fires, and what it owns.
#[derive(Debug, Clone)]
pub struct Firing {
    pub node: NodeId,
    pub shards: Vec<ShardEpoch>,
}

impl Firing {
    /// A scheduler that lives for `term` and takes all that nobody alive owns.
    pub async fn begin(world: &World, term: Duration) -> Self {
        let node = NodeId::fresh();
        let beat = shard::beat(&world.scheduler, node, term).await.unwrap();
        let all: Vec<_> = beat.shards.iter().map(|shard| shard.at.shard).collect();
        let shards = shard::take(&world.scheduler, node, &all).await.unwrap();
        Self { node, shards }
    }

    /// As the statement takes it.
    pub fn who(&self) -> store::fire::Firing<'_> {
        store::fire::Firing { node: self.node, shards: &self.shards, cancel_grace: GRACE }
    }

    /// All that has come.
    pub async fn due(&self, world: &World) -> Vec<Due> {
        let shards: Vec<_> = self.shards.iter().map(|at| at.shard).collect();
        let now = store::fire::clock(&world.scheduler).await.unwrap();
        window(&world.scheduler, &shards, [Timestamp::UNIX_EPOCH, now], 10_000).await.unwrap()
    }

    /// Fires `due`: one task each, and next due `gap` later.
    pub async fn fire(
        &self,
        world: &World,
        due: &[Due],
        gap: Duration,
    ) -> Result<Written, StoreError> {
        self.fire_by(world, due, |facts| once(facts, gap, TaskId::fresh())).await
    }

    pub async fn fire_by(
        &self,
        world: &World,
        due: &[Due],
        judge: impl Fn(&Facts) -> Verdict,
    ) -> Result<Written, StoreError> {
        let all = |facts: &[Facts]| Ok(facts.iter().map(&judge).collect());
        write(&world.scheduler, self.who(), due, all).await
    }
}

/// One fire, with the task `task`.
pub fn once(facts: &Facts, gap: Duration, task: TaskId) -> Verdict {
    let row = VerdictRow {
        due_at: facts.due.due_at,
        outcome: Outcome::Fired,
        made: Some(Made::Task(task)),
        detail: None,
        delay: Duration::ZERO,
        queued: false,
    };
    let next = facts.due.due_at + gap;
    Verdict {
        schedule: facts.due.schedule,
        rows: vec![row],
        version: facts.version,
        overlap: facts.overlap,
        template: Some(Arc::new(serde_json::from_str(&facts.template).unwrap())),
        runs: None,
        cancel: Vec::new(),
        next: Some((next, next)),
        awaits: None,
        fires: facts.fires + 1,
        settled: Vec::new(),
    }
}

impl World {
    /// Makes a schedule due so many milliseconds ago.
    pub async fn make_due(&self, schedule: ScheduleId, ago_ms: i64) {
        self.sql(format!(
            "update schedule set due_at = now() - interval '{ago_ms} milliseconds',
                fire_at = now() - interval '{ago_ms} milliseconds' where id = '{}'",
            schedule.uuid()
        ))
        .await;
    }
}
