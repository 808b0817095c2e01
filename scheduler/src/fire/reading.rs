//! Reads what is due soon into the timers.
//!
//! What is due in the next moments is looked at again and again, on wake-ups and by itself: so an edit is seen in time whether its
//! wake-up arrives or not. What comes after that, until the end of the window, is read once, when the window moves on.

use super::clock::DbClock;
use super::firing::Part;
use super::shards::Shards;
use domain::time::Timestamp;
use runtime::clock::{self, Instant, monotonic};
use runtime::config::SchedulesConfig;
use runtime::tick::TickOutcome;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, window};
use store::shard::ShardEpoch;

/// A look by itself is due this often where a wake-up may be lost.
pub(crate) const POLL: Duration = Duration::from_millis(200);
/// The shortest time from one look to the next, however many wake-ups come.
const REST: Duration = Duration::from_millis(10);

pub(crate) struct ReadTick {
    db: SchedulerDb,
    shards: Arc<Shards>,
    clock: Arc<DbClock>,
    parts: Vec<Arc<Part>>,
    /// What a look by itself covers: until well after the next one.
    near: Duration,
    settings: SchedulesConfig,
    /// The shards that were read, each under its epoch, and until when.
    read: BTreeMap<i16, (i64, Timestamp)>,
    looked: Option<Instant>,
}

impl ReadTick {
    pub(crate) fn new(
        db: SchedulerDb,
        shards: Arc<Shards>,
        clock: Arc<DbClock>,
        parts: Vec<Arc<Part>>,
        (near, settings): (Duration, SchedulesConfig),
    ) -> Self {
        Self { db, shards, clock, parts, near, settings, read: BTreeMap::new(), looked: None }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if let Some(left) = self.looked.and_then(|at| REST.checked_sub(at.elapsed())) {
            clock::sleep(left).await;
        }
        self.looked = Some(monotonic());
        let Some(now) = self.clock.now() else { return Ok(TickOutcome::idle(0)) };
        let owned = self.shards.owned();
        if owned.is_empty() {
            // What was read stays: nothing is fired of it meanwhile.
            return Ok(TickOutcome::idle(0));
        }
        self.forget(&owned);
        let room = self.room();
        let known: Vec<_> = self.read.keys().copied().collect();
        let mut found = 0;
        for part in &self.parts {
            part.timers().look_begins(now);
        }
        if !known.is_empty() {
            found +=
                self.look(&known, [Timestamp::UNIX_EPOCH, now + self.near], i64::MAX).await?.len();
        }
        let end = now + self.settings.window;
        let each = i64::try_from(room / owned.len().max(1)).unwrap_or(i64::MAX);
        let half = now + self.settings.window / 2;
        let behind: Vec<_> = owned
            .iter()
            .map(|at| {
                (*at, self.read.get(&at.shard).map_or(Timestamp::UNIX_EPOCH, |(_, until)| *until))
            })
            .filter(|(_, until)| *until < half)
            .collect();
        for (from, shards) in by_start(&behind) {
            if each == 0 && from > Timestamp::UNIX_EPOCH {
                continue;
            }
            let each = each.max(i64::try_from(self.settings.fire_batch).unwrap_or(1));
            let numbers: Vec<_> = shards.iter().map(|at| at.shard).collect();
            let due = self.look(&numbers, [from, end], each).await?;
            for at in shards {
                // A full answer ends where it ends.
                let mine = due.iter().filter(|due| due.shard == at.shard);
                let (count, last) =
                    mine.fold((0, from), |(n, last), due| (n + 1, last.max(due.fire_at)));
                let until = if count >= each { last } else { end };
                self.read.insert(at.shard, (at.epoch, until));
            }
            found += due.len();
        }
        Ok(TickOutcome::idle(found as u64))
    }

    /// Reads, and sets the timers.
    async fn look(
        &self,
        shards: &[i16],
        range: [Timestamp; 2],
        each: i64,
    ) -> Result<Vec<Due>, StoreError> {
        let each = each.min(i64::try_from(self.settings.max_timers).unwrap_or(i64::MAX));
        let due = window(&self.db, shards, range, each).await?;
        for part in &self.parts {
            let mine: Vec<_> = due.iter().copied().filter(|due| part.has(due.shard)).collect();
            if part.timers().found(&mine) {
                part.wake();
            }
        }
        Ok(due)
    }

    /// Forgets what is not owned any more, or under another epoch.
    fn forget(&mut self, owned: &[ShardEpoch]) {
        let before = self.read.len();
        self.read.retain(|shard, (epoch, _)| {
            owned.contains(&ShardEpoch { shard: *shard, epoch: *epoch })
        });
        if self.read.len() < before {
            let kept: BTreeSet<_> = self.read.keys().copied().collect();
            for part in &self.parts {
                part.timers().keep(&kept);
            }
        }
    }

    /// How many more due times may be held.
    fn room(&self) -> usize {
        let held: usize = self.parts.iter().map(|part| part.timers().len()).sum();
        self.settings.max_timers.saturating_sub(held)
    }
}

/// Shards that were read until the same time are read on together.
fn by_start(behind: &[(ShardEpoch, Timestamp)]) -> BTreeMap<Timestamp, Vec<ShardEpoch>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for (at, from) in behind {
        groups.entry(*from).or_default().push(*at);
    }
    groups
}
