//! The shards that this scheduler owns.
//!
//! Its row, and with it all its shards, is renewed every quarter of the term. Local trust ends after two thirds of the
//! term, counted from before the request; in addition the database refuses an old epoch. Shards of another scheduler
//! are released as soon as that one is live, and all shards at shutdown.

use super::clock::DbClock;
use super::counted::{SHARDS, SHARDS_CONFIGURED};
use super::rendezvous::wanted;
use bus::{Bus, Topic};
use domain::epoch::Epoch;
use domain::id::NodeId;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use runtime::tick::TickOutcome;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::shard::{self, Beat, ShardEpoch};
use tracing::{info, warn};

/// The owned shards, as this process knows them.
pub(crate) struct Shards {
    db: SchedulerDb,
    bus: Bus,
    node: NodeId,
    term: Duration,
    count: u16,
    clock: Arc<DbClock>,
    held: Mutex<Held>,
    prepared: AtomicBool,
    /// The hold of schedules was logged.
    held_back: AtomicBool,
    /// Set by `leave`: a heartbeat in flight must then claim nothing.
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct Held {
    shards: BTreeMap<i16, Owned>,
    until: Option<Instant>,
}

/// An owned shard.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    epoch: Epoch,
    tzdb: String,
}

impl Shards {
    pub(crate) fn new(
        db: SchedulerDb,
        bus: Bus,
        node: NodeId,
        (term, count): (Duration, u16),
        clock: Arc<DbClock>,
    ) -> Self {
        let [prepared, held_back, over] = [false; 3].map(AtomicBool::new);
        let held = Mutex::default();
        SHARDS_CONFIGURED.set(f64::from(count));
        Self { db, bus, node, term, count, clock, held, prepared, held_back, over }
    }

    pub(super) const fn node(&self) -> NodeId {
        self.node
    }

    /// Owned shards; empty after local trust has ended.
    pub(super) fn owned(&self) -> Vec<ShardEpoch> {
        let held = self.held.lock();
        if held.until.is_none_or(|until| monotonic() >= until) {
            return Vec::new();
        }
        let epochs = held.shards.iter();
        epochs.map(|(shard, owned)| ShardEpoch { shard: *shard, epoch: owned.epoch }).collect()
    }

    /// Owned shards whose due times may be of another release of the time zone data.
    pub(super) fn outdated(&self, tzdb: &str) -> Vec<ShardEpoch> {
        let held = self.held.lock();
        let old = held.shards.iter().filter(|(_, owned)| owned.tzdb != tzdb);
        old.map(|(shard, owned)| ShardEpoch { shard: *shard, epoch: owned.epoch }).collect()
    }

    /// Records that all due times of the shard are of release `tzdb`.
    pub(super) fn set_release(&self, shard: i16, tzdb: &str) {
        let mut held = self.held.lock();
        if let Some(owned) = held.shards.get_mut(&shard) {
            tzdb.clone_into(&mut owned.tzdb);
        }
    }

    /// Drops shards that another scheduler owns.
    pub(super) fn lost(&self, shards: &[i16]) {
        let mut held = self.held.lock();
        held.shards.retain(|shard, _| !shards.contains(shard));
    }

    /// Sends a heartbeat, releases shards of others and claims its own.
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        if !self.prepared.load(Ordering::Acquire) {
            shard::prepare(&self.db, self.count).await?;
            self.prepared.store(true, Ordering::Release);
        }
        let sent_at = monotonic();
        if self.over.load(Ordering::SeqCst) {
            return Ok(TickOutcome::idle(0));
        }
        let beat = shard::beat(&self.db, self.node, self.term).await?;
        let until = sent_at + self.term * 2 / 3;
        let mut held = self.standing(&beat);
        let numbers: Vec<_> = beat.shards.iter().map(|shard| shard.at.shard).collect();
        let wanted = wanted(self.node, &beat.nodes, &numbers);
        let foreign: Vec<_> =
            held.keys().copied().filter(|shard| !wanted.contains(shard)).collect();
        held.retain(|shard, _| wanted.contains(shard));
        let open: Vec<_> = wanted.into_iter().filter(|shard| !held.contains_key(shard)).collect();
        // Stop firing before the release.
        self.set(held.clone(), until);
        if !foreign.is_empty() {
            shard::give_up(&self.db, self.node, &foreign).await?;
            self.bus.wake(Topic::ShardOwner);
        }
        if !open.is_empty() {
            let taken = shard::take(&self.db, self.node, &open).await?;
            if taken.is_empty() {
                self.log_if_held().await?;
            } else {
                self.held_back.store(false, Ordering::Relaxed);
            }
            for taken in taken {
                let row = beat.shards.iter().find(|shard| shard.at.shard == taken.shard);
                let tzdb = row.map(|row| row.tzdb.clone()).unwrap_or_default();
                held.insert(taken.shard, Owned { epoch: taken.epoch, tzdb });
            }
            self.set(held, until);
        }
        if self.over.load(Ordering::SeqCst) {
            self.leave().await;
        }
        let sent_at = monotonic();
        self.clock.record(store::fire::clock(&self.db).await?, sent_at);
        Ok(TickOutcome::idle(self.owned().len() as u64))
    }

    /// Logs once if schedules are held until an operator resumes them.
    async fn log_if_held(&self) -> Result<(), StoreError> {
        if let Some(because) = store::installation::held(&self.db).await?
            && !self.held_back.swap(true, Ordering::Relaxed)
        {
            warn!(
                %because,
                "No schedule fires ({because}): see `berth admin resume-after-restore`"
            );
        }
        Ok(())
    }

    /// Releases all shards at shutdown.
    pub(crate) async fn leave(&self) {
        self.over.store(true, Ordering::SeqCst);
        *self.held.lock() = Held::default();
        SHARDS.set(0.0);
        match shard::leave(&self.db, self.node).await {
            Ok(()) => self.bus.wake(Topic::ShardOwner),
            Err(error) => {
                warn!(%error, "The shards could not be given up; they expire by themselves")
            }
        }
    }

    /// Owned shards by the database.
    fn standing(&self, beat: &Beat) -> BTreeMap<i16, Owned> {
        let mine = beat.shards.iter().filter(|shard| shard.owner == Some(self.node));
        mine.map(|shard| {
            (shard.at.shard, Owned { epoch: shard.at.epoch, tzdb: shard.tzdb.clone() })
        })
        .collect()
    }

    fn set(&self, shards: BTreeMap<i16, Owned>, until: Instant) {
        let mut held = self.held.lock();
        if !held.shards.keys().eq(shards.keys()) {
            let count = shards.len();
            info!(shards = count, "This scheduler fires {count} shards of schedules now");
        }
        SHARDS.set(shards.len() as f64);
        *held = Held { shards, until: Some(until) };
    }
}
