//! The shards that this scheduler owns.
//!
//! Its row is renewed every quarter of the term, and with it all that it owns. It trusts itself for two thirds of the term, counted
//! from before it asked; the database refuses an old epoch besides. Shards that belong to another are given up as soon as that one
//! is seen, and all of them at once on shutdown.

use super::clock::DbClock;
use super::counted::SHARDS;
use super::rendezvous::wanted;
use bus::{Bus, Topic};
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

/// What this scheduler owns, as it sees it.
pub(crate) struct Shards {
    db: SchedulerDb,
    bus: Bus,
    node: NodeId,
    term: Duration,
    count: u16,
    clock: Arc<DbClock>,
    held: Mutex<Held>,
    prepared: AtomicBool,
    /// It was told that schedules are held.
    held_back: AtomicBool,
    /// Set by `leave`: a beat that was on its way then must take nothing.
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct Held {
    shards: BTreeMap<i16, Owned>,
    until: Option<Instant>,
}

/// What is known of a shard that is owned.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    epoch: i64,
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
        Self { db, bus, node, term, count, clock, held, prepared, held_back, over }
    }

    pub(super) const fn node(&self) -> NodeId {
        self.node
    }

    /// What it owns now, as far as it trusts itself.
    pub(super) fn owned(&self) -> Vec<ShardEpoch> {
        let held = self.held.lock();
        if held.until.is_none_or(|until| monotonic() >= until) {
            return Vec::new();
        }
        let epochs = held.shards.iter();
        epochs.map(|(shard, owned)| ShardEpoch { shard: *shard, epoch: owned.epoch }).collect()
    }

    /// Those whose due times may be those of another release of the time zone data.
    pub(super) fn outdated(&self, tzdb: &str) -> Vec<ShardEpoch> {
        let held = self.held.lock();
        let old = held.shards.iter().filter(|(_, owned)| owned.tzdb != tzdb);
        old.map(|(shard, owned)| ShardEpoch { shard: *shard, epoch: owned.epoch }).collect()
    }

    /// All due times of the shard are those of release `tzdb` now.
    pub(super) fn is_of(&self, shard: i16, tzdb: &str) {
        let mut held = self.held.lock();
        if let Some(owned) = held.shards.get_mut(&shard) {
            tzdb.clone_into(&mut owned.tzdb);
        }
    }

    /// The database said that another owns them.
    pub(super) fn lost(&self, shards: &[i16]) {
        let mut held = self.held.lock();
        held.shards.retain(|shard, _| !shards.contains(shard));
    }

    /// Says that it lives, gives up what is another's and takes what is its own.
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        if !self.prepared.load(Ordering::Acquire) {
            shard::prepare(&self.db, self.count).await?;
            self.prepared.store(true, Ordering::Release);
        }
        let asked = monotonic();
        if self.over.load(Ordering::SeqCst) {
            return Ok(TickOutcome::idle(0));
        }
        let beat = shard::beat(&self.db, self.node, self.term).await?;
        let until = asked + self.term * 2 / 3;
        let mut held = self.standing(&beat);
        let numbers: Vec<_> = beat.shards.iter().map(|shard| shard.at.shard).collect();
        let wanted = wanted(self.node, &beat.nodes, &numbers);
        let foreign: Vec<_> =
            held.keys().copied().filter(|shard| !wanted.contains(shard)).collect();
        held.retain(|shard, _| wanted.contains(shard));
        let open: Vec<_> = wanted.into_iter().filter(|shard| !held.contains_key(shard)).collect();
        // First nothing more is fired for what is given up.
        self.set(held.clone(), until);
        if !foreign.is_empty() {
            shard::give_up(&self.db, self.node, &foreign).await?;
            self.bus.wake(Topic::ShardOwner);
        }
        if !open.is_empty() {
            let taken = shard::take(&self.db, self.node, &open).await?;
            if taken.is_empty() {
                self.tell_if_held().await?;
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
        let asked = monotonic();
        self.clock.told(store::fire::clock(&self.db).await?, asked);
        Ok(TickOutcome::idle(self.owned().len() as u64))
    }

    /// Says once why nothing fires, where that is for an operator to end.
    async fn tell_if_held(&self) -> Result<(), StoreError> {
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

    /// Gives all up, for good.
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

    /// What the database says that this scheduler owns.
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
