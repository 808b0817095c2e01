//! Fires due times, in groups.
//!
//! The shards are split into a few parts, each written by its own loop, so that groups of one scheduler do not contend.
//! A group is whatever became due while the previous one was written: a single due time is written at once. Schedules that
//! start workflow runs are left to a second loop of each part, which writes them one by one: a run may have thousands of
//! tasks, and delays no task of another schedule.

use super::clock::DbClock;
use super::counted::{FIRES, LATENESS};
use super::judge::Judge;
use super::shards::Shards;
use super::timers::Timers;
use bus::{Bus, Topic};
use domain::time::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, Facts, Firing, Written, pause_unreadable, write, write_starting};
use tokio::sync::Notify;
use tracing::{debug, info};

/// Due times are taken from the timers and not written yet.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.fire.before_commit");
/// Fires and their tasks are written; the timers are not updated yet.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.fire.committed");
/// The same for what starts runs.
static RUNS_BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.fire_runs.before_commit");
static RUNS_COMMITTED: FaultPoint = FaultPoint::new("scheduler.fire_runs.committed");

/// A part of the shards: their timers and the signal that wakes their loop.
pub(crate) struct Part {
    index: usize,
    of: usize,
    timers: Mutex<Timers>,
    woken: Arc<Notify>,
    /// Due times that may start runs: they are being written, for the timers.
    starting: Mutex<VecDeque<Due>>,
    starting_woken: Arc<Notify>,
}

impl Part {
    pub(crate) fn new(index: usize, of: usize, timers: Timers) -> Self {
        Self {
            index,
            of,
            timers: Mutex::new(timers),
            woken: Arc::default(),
            starting: Mutex::default(),
            starting_woken: Arc::default(),
        }
    }

    /// Whether the shard is in this part.
    pub(super) fn has(&self, shard: i16) -> bool {
        usize::from(shard.unsigned_abs()) % self.of == self.index
    }

    pub(super) fn timers(&self) -> MutexGuard<'_, Timers> {
        self.timers.lock()
    }

    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Wakes its loop, or the one that writes what starts runs.
    pub(crate) fn notify(&self, kind: FireKind) -> Arc<Notify> {
        Arc::clone(match kind {
            FireKind::Tasks => &self.woken,
            FireKind::Runs => &self.starting_woken,
        })
    }

    fn leave_to_runs(&self, due: &[Due]) {
        if !due.is_empty() {
            self.starting.lock().extend(due);
            self.starting_woken.notify_one();
        }
    }
}

/// What a loop writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FireKind {
    /// All that is due, but for what may start runs.
    Tasks,
    /// What the other loop leaves.
    Runs,
}

impl FireKind {
    const fn fault_points(self) -> (&'static FaultPoint, &'static FaultPoint) {
        match self {
            Self::Tasks => (&BEFORE_COMMIT, &COMMITTED),
            Self::Runs => (&RUNS_BEFORE_COMMIT, &RUNS_COMMITTED),
        }
    }
}

pub(crate) struct FireTick {
    pub(crate) kind: FireKind,
    pub(crate) db: SchedulerDb,
    pub(crate) bus: Bus,
    pub(crate) shards: Arc<Shards>,
    pub(crate) clock: Arc<DbClock>,
    pub(crate) part: Arc<Part>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) batch: usize,
    /// Time for a running task to stop (overlap policy `cancel_other`).
    pub(crate) cancel_grace: Duration,
    /// Removed from the timers and not written yet.
    pub(crate) waiting: Vec<Due>,
}

impl FireTick {
    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        let Some(now) = self.clock.now() else { return Ok(TickOutcome::idle(0)) };
        let owned: Vec<_> =
            self.shards.owned().into_iter().filter(|at| self.part.has(at.shard)).collect();
        if owned.is_empty() {
            if self.kind == FireKind::Runs {
                self.collect(now);
            }
            let given_up = std::mem::take(&mut self.waiting);
            self.part.timers().failed(&given_up);
            return Ok(TickOutcome::idle(0));
        }
        self.collect(now);
        if self.waiting.is_empty() {
            return Ok(self.rest());
        }
        let batch = if self.kind == FireKind::Tasks { self.batch } else { 1 };
        let group: Vec<_> = self.waiting.drain(..batch.min(self.waiting.len())).collect();
        let numbers: HashSet<_> = group.iter().map(|due| due.shard).collect();
        let shards: Vec<_> = owned.into_iter().filter(|at| numbers.contains(&at.shard)).collect();
        match self.write(&group, &shards).await {
            Ok(written) => {
                self.settle(&group, &written);
                let done = written.rows.len() as u64;
                Ok(if self.waiting.is_empty() {
                    self.rest_after(done)
                } else {
                    TickOutcome::now(done)
                })
            }
            Err(error) => {
                self.part.timers().failed(&group);
                Err(error)
            }
        }
    }

    async fn write(
        &self,
        group: &[Due],
        shards: &[store::shard::ShardEpoch],
    ) -> Result<Written, StoreError> {
        self.judge.prepare(&self.db, group).await?;
        let firing = Firing { node: self.shards.node(), shards, cancel_grace: self.cancel_grace };
        let (before_commit, committed) = self.kind.fault_points();
        before_commit.hit().await?;
        let judge = |facts: &[Facts]| Ok(self.judge.verdicts(facts));
        let written = match (self.kind, group) {
            (FireKind::Runs, [due]) => write_starting(&self.db, firing, *due, judge).await?,
            _ => write(&self.db, firing, group, judge).await?,
        };
        committed.hit().await?;
        for one in self.judge.unreadable() {
            pause_unreadable(&self.db, &one).await?;
        }
        Ok(written)
    }

    /// Updates the timers and metrics.
    fn settle(&self, group: &[Due], written: &Written) {
        if !written.lost.is_empty() {
            info!(shards = ?written.lost, "Another scheduler fires shards {:?} now", written.lost);
            self.shards.lost(&written.lost);
        }
        let starting: HashSet<_> = written.starting.iter().map(|due| due.schedule).collect();
        let written_now: Vec<_> =
            group.iter().filter(|due| !starting.contains(&due.schedule)).copied().collect();
        self.part.leave_to_runs(&written.starting);
        let mut timers = self.part.timers();
        timers.mark_written(&written_now);
        timers.insert(&written.next);
        timers.failed(&written.early);
        drop(timers);
        for outcome in &written.rows {
            FIRES.with(&[outcome.as_str()]).inc();
        }
        if !written.rows.is_empty() {
            LATENESS.observe_duration(written.lateness);
            debug!(rows = written.rows.len(), late = ?written.lateness, "Fired");
        }
        if written.rows.iter().any(|outcome| outcome.makes_task()) {
            self.bus.wake(Topic::Batcher);
        }
        if written.runs_changed {
            // For their gates, or to cancel their tasks.
            self.bus.wake(Topic::ShardOwner);
        }
        if written.asked_to_stop {
            self.bus.wake(Topic::ResourceManager);
        }
    }

    fn rest(&self) -> TickOutcome {
        self.rest_after(0)
    }

    /// Takes what has come.
    fn collect(&mut self, now: Timestamp) {
        match self.kind {
            FireKind::Tasks => self.waiting.extend(self.part.timers().remove_due(now)),
            FireKind::Runs => self.waiting.extend(self.part.starting.lock().drain(..)),
        }
    }

    /// Waits until the next due time.
    fn rest_after(&self, done: u64) -> TickOutcome {
        if self.kind == FireKind::Runs {
            return TickOutcome::idle(done);
        }
        let (next, now) = (self.part.timers().next_due(), self.clock.now());
        match next.zip(now) {
            Some((next, now)) => {
                let pause = (next - now).to_std().unwrap_or_default();
                TickOutcome::after(pause.max(Duration::from_millis(1)), done)
            }
            None => TickOutcome::idle(done),
        }
    }
}
