//! Background work of schedules: fixed delays, backfills, new time zone data and missed fires.

use super::clock::DbClock;
use super::counted::MISSED;
use super::judge::Judge;
use super::poll_interval::PollInterval;
use super::shards::Shards;
use super::zones::Zones;
use bus::{Bus, Topic};
use domain::id::{PlanName, PoolName};
use domain::pool::PoolUser;
use domain::schedule::{Coming, Timing};
use domain::time::Timestamp;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use runtime::tick::TickOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{
    Awaited, Due, DueBackfill, Unreadable, awaited, backfill_step, backfills, pause_unreadable,
    postpone_backfill, resume_after, tell_missed,
};
use store::shard::ShardEpoch;
use tracing::{error, info, warn};

/// Schedules per shard in one statement.
const PER_SHARD: i64 = 200;
/// Backfills that fire a batch in one tick.
const BACKFILLS: i64 = 20;
/// Poll interval of backfills while there is none.
const BACKFILL_POLL: Duration = Duration::from_secs(1);
/// Time until a backfill that failed is tried again.
const BACKFILL_RETRY: Duration = Duration::from_secs(30);

/// Runs several times per second, for the owned shards.
pub(crate) struct KeepFires {
    db: SchedulerDb,
    bus: Bus,
    shards: Arc<Shards>,
    clock: Arc<DbClock>,
    judge: Arc<Judge>,
    zones: Zones,
    /// When there was no backfill.
    no_backfills: Mutex<Option<Instant>>,
    poll_interval: Mutex<PollInterval>,
}

impl KeepFires {
    pub(crate) fn new(
        db: SchedulerDb,
        bus: Bus,
        shards: Arc<Shards>,
        clock: Arc<DbClock>,
        judge: Arc<Judge>,
    ) -> Self {
        let zones = Zones { db: db.clone(), shards: Arc::clone(&shards) };
        Self {
            db,
            bus,
            shards,
            clock,
            judge,
            zones,
            no_backfills: Mutex::default(),
            poll_interval: Mutex::default(),
        }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let owned = self.shards.owned();
        let Some(now) = self.clock.now().filter(|_| !owned.is_empty()) else {
            return Ok(TickOutcome::idle(0));
        };
        let moved = self.zones.update(now).await?;
        let numbers: Vec<_> = owned.iter().map(|at| at.shard).collect();
        let mut resumed = 0;
        let ended = awaited(&self.db, &numbers, PER_SHARD).await?;
        let followed = !ended.is_empty();
        for ended in ended {
            resumed += u64::from(self.resume(&ended).await?);
        }
        if moved + resumed > 0 {
            self.bus.wake(Topic::ShardOwner);
        }
        let made = self.backfill(&owned, now).await?;
        if made > 0 {
            self.bus.wake(Topic::Batcher);
            // For the gates of runs.
            self.bus.wake(Topic::ShardOwner);
        }
        let mut poll_interval = self.poll_interval.lock();
        poll_interval.record(followed || made > 0);
        Ok(TickOutcome::after(poll_interval.pause(), moved + resumed + made))
    }

    /// Fires a batch of each backfill; returns the number of due times. Polls once a second if there is none.
    async fn backfill(&self, owned: &[ShardEpoch], now: Timestamp) -> Result<u64, StoreError> {
        let too_soon = |at: &Instant| at.elapsed() < BACKFILL_POLL;
        if self.no_backfills.lock().as_ref().is_some_and(too_soon) {
            return Ok(0);
        }
        let numbers: Vec<_> = owned.iter().map(|at| at.shard).collect();
        let under_way = backfills(&self.db, &numbers, BACKFILLS).await?;
        *self.no_backfills.lock() = under_way.is_empty().then(monotonic);
        let mut made = 0;
        for DueBackfill { schedule, tenant, shard } in under_way {
            let Some(at) = owned.iter().find(|at| at.shard == shard) else { continue };
            let of = Due { schedule, tenant, shard, due_at: now, fire_at: now };
            self.judge.prepare(&self.db, &[of]).await?;
            let room = |pools: &[&PoolName], plan: &PlanName| {
                self.judge.room(PoolUser { tenant, plan }, pools)
            };
            let step = match backfill_step(&self.db, self.shards.node(), *at, schedule, room).await
            {
                Err(StoreError::Malformed { what, .. }) => {
                    // Other backfills continue.
                    pause_unreadable(&self.db, &Unreadable { schedule, version: None, what })
                        .await?;
                    continue;
                }
                // The others would fail, too.
                Err(
                    error @ (StoreError::Unavailable(_) | StoreError::Standby | StoreError::Busy),
                ) => return Err(error),
                Err(error) => {
                    error!(schedule.id = %schedule, %error, "A backfill of schedule `{schedule}` failed and is tried again later: {error}");
                    postpone_backfill(&self.db, schedule, BACKFILL_RETRY).await?;
                    continue;
                }
                Ok(step) => step,
            };
            made += step.made as u64;
            if step.done {
                info!(schedule.id = %schedule, "The backfill of schedule `{schedule}` is done");
            }
        }
        Ok(made)
    }

    /// Sets the next due time after the end of a task or run (fixed delay).
    async fn resume(&self, ended: &Awaited) -> Result<bool, StoreError> {
        let id = ended.schedule;
        let next =
            store::schedule::read_json::<Timing>("timing", id, &ended.timing).and_then(|timing| {
                let reckoner = store::schedule::reckoner(id, &timing, ended.created_at)?;
                let due = reckoner.after_end(ended.ended_at);
                Ok(due.map(|due| Coming::of(id, &reckoner, due.at)))
            });
        match next {
            Ok(next) => Ok(resume_after(&self.db, id, ended.made, next).await?.is_some()),
            Err(StoreError::Malformed { what, .. }) => {
                let version = Some(ended.version);
                pause_unreadable(&self.db, &Unreadable { schedule: id, version, what }).await?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Reports due times that no scheduler fired.
pub(crate) struct MissedTick {
    pub(crate) db: SchedulerDb,
    pub(crate) after: Duration,
}

impl MissedTick {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let missed = tell_missed(&self.db, self.after, PER_SHARD).await?;
        MISSED.inc_by(missed.len() as u64);
        for one in &missed {
            let (id, name, due_at) = (one.schedule, &one.name, one.due_at);
            warn!(schedule.id = %id, tenant.id = %one.tenant, %due_at, "Schedule `{name}` of `{}` was due at {due_at} and has not been fired", one.tenant);
        }
        Ok(TickOutcome::idle(missed.len() as u64))
    }
}
