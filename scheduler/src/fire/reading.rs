//! Reads due times into the timers.
//!
//! The near future is read repeatedly, on wake-ups and on a timer, so that an edit takes effect even if its wake-up is
//! lost. The rest of the window is read once, when the window moves on.

use super::clock::DbClock;
use super::firing::Part;
use super::shards::Shards;
use domain::epoch::Epoch;
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

/// Poll interval where a wake-up may be lost.
pub(crate) const POLL: Duration = Duration::from_millis(200);
/// Shortest interval between two reads (debounce of wake-ups).
const MIN_INTERVAL: Duration = Duration::from_millis(10);

pub(crate) struct ReadTick {
    db: SchedulerDb,
    shards: Arc<Shards>,
    clock: Arc<DbClock>,
    parts: Vec<Arc<Part>>,
    /// Range of a repeated read: well past the next one.
    near: Duration,
    settings: SchedulesConfig,
    /// The shards that were read, with epoch and end of the read range.
    read: BTreeMap<i16, (Epoch, Timestamp)>,
    last_read: Option<Instant>,
}

impl ReadTick {
    pub(crate) fn new(
        db: SchedulerDb,
        shards: Arc<Shards>,
        clock: Arc<DbClock>,
        parts: Vec<Arc<Part>>,
        (near, settings): (Duration, SchedulesConfig),
    ) -> Self {
        Self { db, shards, clock, parts, near, settings, read: BTreeMap::new(), last_read: None }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if let Some(left) = self.last_read.and_then(|at| MIN_INTERVAL.checked_sub(at.elapsed())) {
            clock::sleep(left).await;
        }
        self.last_read = Some(monotonic());
        let Some(now) = self.clock.now() else { return Ok(TickOutcome::idle(0)) };
        let owned = self.shards.owned();
        if owned.is_empty() {
            // The timers stay; nothing fires without ownership.
            return Ok(TickOutcome::idle(0));
        }
        self.drop_lost(&owned);
        let room = self.room();
        let known: Vec<_> = self.read.keys().copied().collect();
        let mut found = 0;
        for part in &self.parts {
            part.timers().read_begins(now);
        }
        if !known.is_empty() {
            found += self
                .read_due(&known, [Timestamp::UNIX_EPOCH, now + self.near], i64::MAX)
                .await?
                .len();
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
            let due = self.read_due(&numbers, [from, end], each).await?;
            for at in shards {
                // A full page covers only up to its last row.
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

    /// Reads due times and sets the timers.
    async fn read_due(
        &self,
        shards: &[i16],
        range: [Timestamp; 2],
        each: i64,
    ) -> Result<Vec<Due>, StoreError> {
        let each = each.min(i64::try_from(self.settings.max_timers).unwrap_or(i64::MAX));
        let due = window(&self.db, shards, range, each).await?;
        for part in &self.parts {
            let mine: Vec<_> = due.iter().copied().filter(|due| part.has(due.shard)).collect();
            if part.timers().insert(&mine) {
                part.wake();
            }
        }
        Ok(due)
    }

    /// Drops shards that are no longer owned under the same epoch.
    fn drop_lost(&mut self, owned: &[ShardEpoch]) {
        let before = self.read.len();
        self.read.retain(|shard, (epoch, _)| {
            owned.contains(&ShardEpoch { shard: *shard, epoch: *epoch })
        });
        if self.read.len() < before {
            let kept: BTreeSet<_> = self.read.keys().copied().collect();
            for part in &self.parts {
                part.timers().retain_shards(&kept);
            }
        }
    }

    /// Free capacity of the timers.
    fn room(&self) -> usize {
        let held: usize = self.parts.iter().map(|part| part.timers().len()).sum();
        self.settings.max_timers.saturating_sub(held)
    }
}

/// Groups shards whose read ranges end at the same time.
fn by_start(behind: &[(ShardEpoch, Timestamp)]) -> BTreeMap<Timestamp, Vec<ShardEpoch>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for (at, from) in behind {
        groups.entry(*from).or_default().push(*at);
    }
    groups
}
