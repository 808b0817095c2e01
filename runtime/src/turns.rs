//! Turns at something of which each key may have few at once: others of the same key wait in line, for a while and not too many.
//!
//! Connections to the database, work that keeps a processor busy: what one tenant could otherwise take from all others. Keys do not
//! wait for each other here. A [`Turn`] ends when it is dropped, however its holder ends.

use crate::clock::timeout;
use crate::shares::{Share, Shares};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How much of it one key may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    /// Turns at once.
    pub at_once: usize,
    /// How many may wait for a turn.
    pub waiting: usize,
    /// How long each of them may.
    pub wait: Duration,
}

type Lines<K> = Arc<Mutex<HashMap<K, Arc<Semaphore>>>>;

/// The lines, one a key; cheap to clone. Keys without a turn are forgotten.
#[derive(Debug)]
pub struct Turns<K> {
    limits: TurnLimits,
    /// Turns, and whoever waits for one.
    present: Shares<K>,
    lines: Lines<K>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct Turn<K: Eq + Hash + Clone> {
    _place: Place<K>,
}

/// A place in the line of a key, with the turn once it has come.
#[derive(Debug)]
struct Place<K: Eq + Hash + Clone> {
    key: K,
    lines: Lines<K>,
    /// The line itself, until the place is left.
    line: Option<Arc<Semaphore>>,
    turn: Option<OwnedSemaphorePermit>,
    _present: Share<K>,
}

/// No turn can be had: as many of the key wait as may, or it did not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("as many as may run for this key, and as many as may wait do")]
pub struct NoTurn;

impl<K> Clone for Turns<K> {
    fn clone(&self) -> Self {
        Self { limits: self.limits, present: self.present.clone(), lines: Arc::clone(&self.lines) }
    }
}

impl<K: Eq + Hash + Clone> Turns<K> {
    /// The same limits for each key.
    #[must_use]
    pub fn new(limits: TurnLimits) -> Self {
        let most = limits.at_once.saturating_add(limits.waiting);
        Self { limits, present: Shares::new(usize::MAX, most), lines: Lines::default() }
    }

    /// A turn of `key`, the first come first.
    ///
    /// # Errors
    /// [`NoTurn`].
    pub async fn acquire(&self, key: K) -> Result<Turn<K>, NoTurn> {
        let present = self.present.acquire(key.clone(), 1).map_err(|_| NoTurn)?;
        let line = Arc::clone(
            lock(&self.lines)
                .entry(key.clone())
                .or_insert_with(|| Arc::new(Semaphore::new(self.limits.at_once))),
        );
        let mut place = Place {
            key,
            lines: Arc::clone(&self.lines),
            line: Some(Arc::clone(&line)),
            turn: None,
            _present: present,
        };
        let coming = match Arc::clone(&line).try_acquire_owned() {
            Ok(turn) => {
                place.turn = Some(turn);
                return Ok(Turn { _place: place });
            }
            // Moved: nobody but the place itself may have the line when the place is left.
            Err(_) => line.acquire_owned(),
        };
        let turn = timeout(self.limits.wait, coming).await.map_err(|_| NoTurn)?;
        // Lines are never closed.
        place.turn = Some(turn.map_err(|_| NoTurn)?);
        Ok(Turn { _place: place })
    }

    /// What holds for each key.
    #[must_use]
    pub const fn limits(&self) -> TurnLimits {
        self.limits
    }
}

impl<K: Eq + Hash + Clone> Drop for Place<K> {
    fn drop(&mut self) {
        drop(self.turn.take());
        let mut lines = lock(&self.lines);
        // While the lines are locked, so that of two that leave the second sees that it is the last.
        drop(self.line.take());
        if lines.get(&self.key).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            lines.remove(&self.key);
        }
    }
}

fn lock<K>(lines: &Lines<K>) -> MutexGuard<'_, HashMap<K, Arc<Semaphore>>> {
    lines.lock()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn turns(at_once: usize, waiting: usize, wait: Duration) -> Turns<&'static str> {
        Turns::new(TurnLimits { at_once, waiting, wait })
    }

    #[tokio::test]
    async fn a_key_has_its_turns_in_order_some_wait_and_more_are_refused_while_others_go_on() {
        let turns = turns(2, 2, Duration::from_secs(3600));
        let first = turns.acquire("a").await.unwrap();
        let second = turns.acquire("a").await.unwrap();
        let (mut third, mut fourth) = (Box::pin(turns.acquire("a")), Box::pin(turns.acquire("a")));
        assert!(futures::poll!(&mut third).is_pending());
        assert!(futures::poll!(&mut fourth).is_pending());
        assert_eq!(turns.acquire("a").await.err(), Some(NoTurn));
        drop(turns.acquire("b").now_or_never().expect("another key waits for nobody").unwrap());
        drop(first);
        assert!(futures::poll!(&mut fourth).is_pending(), "not before its turn");
        let third = third.now_or_never().expect("its turn").unwrap();
        // One that goes away leaves its place.
        drop(fourth);
        let mut fifth = Box::pin(turns.acquire("a"));
        assert!(futures::poll!(&mut fifth).is_pending());
        drop((second, third));
        drop(fifth.now_or_never().expect("its turn").unwrap());
        assert!(lock(&turns.lines).is_empty(), "keys without a turn are forgotten");
        assert_eq!(turns.present.in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_too_long_is_refused_and_leaves_the_line() {
        let turns = turns(1, 1, Duration::from_secs(5));
        let first = turns.acquire("a").await.unwrap();
        assert_eq!(turns.acquire("a").await.err(), Some(NoTurn));
        assert_eq!(turns.present.in_use(), 1);
        drop(first);
        drop(turns.acquire("a").await.unwrap());
        assert!(lock(&turns.lines).is_empty());
    }
}
