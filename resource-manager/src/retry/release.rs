//! Releases held retries as the accounts of their targets allow.
//!
//! Input comes from the database: the targets of all held retries, also of a process that died. While none is held, it
//! reads an empty table once a second.

use super::Budgets;
use crate::metrics::{HELD_TARGETS, OPEN_BREAKERS, RETRIES};
use bus::{Bus, Topic};
use parking_lot::Mutex;
use runtime::clock::{self, Instant};
use runtime::fault::FaultPoint;
use runtime::random::unit;
use runtime::tick::TickOutcome;
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::held_retry::{TargetWord, let_go, prune, tell, waiting};

/// Retries are paid and not released yet.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("resource_manager.retries.before_commit");
/// Retries are due and no wake-up was sent.
static COMMITTED: FaultPoint = FaultPoint::new("resource_manager.retries.committed");

/// Release interval.
pub(crate) const RELEASE_INTERVAL: Duration = Duration::from_millis(200);
/// Interval for reading targets and storing their state.
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of clean-ups.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum of targets read.
const MOST_TARGETS: i64 = 10_000;

pub(crate) struct Releaser {
    pub db: RmDb,
    pub bus: Bus,
    pub budgets: Budgets,
    pub last_update: Mutex<Option<Instant>>,
    pub pruned: Mutex<Option<Instant>>,
}

impl Releaser {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        if is_due(&self.last_update, UPDATE_INTERVAL) {
            self.update_targets().await?;
        }
        if is_due(&self.pruned, PRUNE_INTERVAL) {
            prune(&self.db).await?;
        }
        let going = self.budgets.with(|books, rule, now| books.let_go(rule, now, unit));
        if going.is_empty() {
            return Ok(TickOutcome::idle(0));
        }
        BEFORE_COMMIT.hit().await?;
        let found = let_go(&self.db, &going).await?;
        COMMITTED.hit().await?;
        let mut gone = 0;
        self.budgets.with(|books, rule, _| {
            let found: HashMap<_, _> = found.iter().map(|of| (&of.key, of)).collect();
            for (key, count) in &going {
                let (there, moved) = found.get(key).map_or((0, 0), |of| (of.found, of.gone));
                gone += u64::from(moved);
                // A full page: there may be more.
                books.not_there(rule, key, count.saturating_sub(moved), there >= *count);
            }
        });
        RETRIES.with(&["let_go"]).inc_by(gone);
        if gone > 0 {
            self.bus.wake(Topic::ShardOwner);
        }
        Ok(TickOutcome::idle(gone))
    }

    /// Reads targets with held retries and stores why they are held.
    async fn update_targets(&self) -> Result<(), StoreError> {
        let known = waiting(&self.db, MOST_TARGETS).await?;
        self.budgets.share(known.managers);
        let words: Vec<TargetWord> = self.budgets.with(|books, rule, now| {
            books.forget(rule, now);
            for key in &known.targets {
                books.know_waiting(now, key);
            }
            OPEN_BREAKERS.set(books.counts().1 as f64);
            let word = |(key, probe): (_, Option<Duration>)| TargetWord {
                key,
                next_probe: probe.map(|at| at.saturating_sub(now)),
            };
            books.waiting().map(word).collect()
        });
        HELD_TARGETS.set(known.targets.len() as f64);
        if words.is_empty() { Ok(()) } else { tell(&self.db, &words).await }
    }
}

fn is_due(last: &Mutex<Option<Instant>>, every: Duration) -> bool {
    let mut last = last.lock();
    let due = last.is_none_or(|at| at.elapsed() >= every);
    if due {
        *last = Some(clock::monotonic());
    }
    due
}
