//! Lets held retries go as their targets' accounts allow.
//!
//! Input is the database's: which targets tasks wait for, whoever held them, so that those of a process that died go on. While
//! nothing waits a tick costs nothing, and once a second a look into an empty table.

use super::Budgets;
use crate::metrics::{HELD_TARGETS, OPEN_BREAKERS, RETRIES};
use crate::random::unit;
use bus::{Bus, Topic};
use parking_lot::Mutex;
use runtime::clock::{self, Instant};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use std::collections::HashMap;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::held_retry::{TargetWord, let_go, prune, tell, waiting};

/// Retries were paid for, and none is let go.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("resource_manager.retries.before_commit");
/// Retries are due, and who may go on was not told.
static COMMITTED: FaultPoint = FaultPoint::new("resource_manager.retries.committed");

/// Between two rounds: what an account has paid goes this soon.
pub(crate) const RELEASE_INTERVAL: Duration = Duration::from_millis(200);
/// Between two looks at what waits, and two words about it.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Between two clean-ups.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
/// Targets that are looked at.
const MOST_TARGETS: i64 = 10_000;

pub(crate) struct Releaser {
    pub db: RmDb,
    pub bus: Bus,
    pub budgets: Budgets,
    pub looked: Mutex<Option<Instant>>,
    pub pruned: Mutex<Option<Instant>>,
}

impl Releaser {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        if is_due(&self.looked, LOOK_INTERVAL) {
            self.look().await?;
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
                // All that it asked for were there: there may be more.
                books.not_there(rule, key, count.saturating_sub(moved), there >= *count);
            }
        });
        RETRIES.with(&["let_go"]).inc_by(gone);
        if gone > 0 {
            self.bus.wake(Topic::ShardOwner);
        }
        Ok(TickOutcome::idle(gone))
    }

    /// Learns what waits and tells what holds it up.
    async fn look(&self) -> Result<(), StoreError> {
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
