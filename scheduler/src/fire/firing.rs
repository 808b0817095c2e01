//! Fires what has come, in groups.
//!
//! The shards are dealt into a few parts; each part is written by a loop of its own, so that no two groups of one scheduler meet. A
//! group is whatever came while the one before was written: a lone due time waits for nobody.

use super::clock::DbClock;
use super::counted::{FIRES, LATENESS};
use super::judge::Judge;
use super::shards::Shards;
use super::timers::Timers;
use bus::{Bus, Topic};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, Firing, Written, pause_unreadable, write};
use tokio::sync::Notify;
use tracing::{debug, info};

/// Due times have come and none is written.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("scheduler.fire.before_commit");
/// Fires and their tasks are written, and the timers do not know.
static COMMITTED: FaultPoint = FaultPoint::new("scheduler.fire.committed");

/// One part of the shards: their timers, and what wakes the loop that fires them.
pub(crate) struct Part {
    index: usize,
    of: usize,
    timers: Mutex<Timers>,
    woken: Arc<Notify>,
}

impl Part {
    pub(crate) fn new(index: usize, of: usize, timers: Timers) -> Self {
        Self { index, of, timers: Mutex::new(timers), woken: Arc::new(Notify::new()) }
    }

    /// Whether the shard is in it.
    pub(super) fn has(&self, shard: i16) -> bool {
        usize::from(shard.unsigned_abs()) % self.of == self.index
    }

    pub(super) fn timers(&self) -> MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Wakes whoever fires it.
    pub(crate) fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.woken)
    }
}

pub(crate) struct FireTick {
    pub(crate) db: SchedulerDb,
    pub(crate) bus: Bus,
    pub(crate) shards: Arc<Shards>,
    pub(crate) clock: Arc<DbClock>,
    pub(crate) part: Arc<Part>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) batch: usize,
    /// What runs and is asked to stop must have ended after so long.
    pub(crate) cancel_grace: Duration,
    /// Taken out of the timers, and not written yet.
    pub(crate) waiting: Vec<Due>,
}

impl FireTick {
    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        let Some(now) = self.clock.now() else { return Ok(TickOutcome::idle(0)) };
        let owned: Vec<_> =
            self.shards.owned().into_iter().filter(|at| self.part.has(at.shard)).collect();
        if owned.is_empty() {
            let given_up = std::mem::take(&mut self.waiting);
            self.part.timers().failed(&given_up);
            return Ok(TickOutcome::idle(0));
        }
        let come = self.part.timers().take(now);
        self.waiting.extend(come);
        if self.waiting.is_empty() {
            return Ok(self.rest());
        }
        let group: Vec<_> = self.waiting.drain(..self.batch.min(self.waiting.len())).collect();
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
        BEFORE_COMMIT.hit().await?;
        let written =
            write(&self.db, firing, group, |facts| Ok(self.judge.verdicts(facts))).await?;
        COMMITTED.hit().await?;
        for one in self.judge.unreadable() {
            pause_unreadable(&self.db, &one).await?;
        }
        Ok(written)
    }

    /// Takes note of what was written.
    fn settle(&self, group: &[Due], written: &Written) {
        if !written.lost.is_empty() {
            info!(shards = ?written.lost, "Another scheduler fires shards {:?} now", written.lost);
            self.shards.lost(&written.lost);
        }
        let mut timers = self.part.timers();
        timers.wrote(group);
        timers.found(&written.next);
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
        if written.asked_to_stop {
            self.bus.wake(Topic::ResourceManager);
        }
    }

    fn rest(&self) -> TickOutcome {
        self.rest_after(0)
    }

    /// Until the next is due.
    fn rest_after(&self, done: u64) -> TickOutcome {
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
