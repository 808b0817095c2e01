//! Timers by the million: a hierarchical wheel of 1 ms ticks (Varghese and Lauck, 1987).
//!
//! Setting, cancelling and firing a timer cost the same however many there are, and an empty wheel costs nothing: its owner sleeps
//! until [`Wheel::next_due`]. It is only a cache of what the database knows.

mod slab;

use crate::time::Timestamp;
use slab::{NONE, Slab};

/// Bits of a tick that one level tells apart.
const BITS: u32 = 6;
/// Slots of a level.
const SLOTS: usize = 1 << BITS;
/// Levels; together they tell all ticks apart.
const LEVELS: usize = 11;

/// Names a timer until it has fired or was cancelled; from then on it names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timer {
    index: u32,
    generation: u32,
}

/// Timers, each with a key. None fires early: a due time within a tick fires at the tick's end.
///
/// A timer lies on the level of the highest bits in which its tick differs from the present one. Whatever lies on a lower level is
/// due before all of a higher; when a slot of a higher level is reached, what lies in it is spread over the lower ones.
#[derive(Debug, Clone)]
pub struct Wheel<K> {
    timers: Slab<K>,
    /// The first timer of each slot.
    slots: Box<[[u32; SLOTS]; LEVELS]>,
    /// For each level, which slots have timers.
    taken: [u64; LEVELS],
    /// The present tick: milliseconds since 1970.
    now: u64,
    set: usize,
}

/// The tick at whose beginning `at` has come.
fn tick_of(at: Timestamp) -> u64 {
    let micros = u64::try_from(at.timestamp_micros()).unwrap_or(0);
    let nanos_left = !at.timestamp_subsec_nanos().is_multiple_of(1000);
    (micros + u64::from(nanos_left)).div_ceil(1000)
}

impl<K> Wheel<K> {
    /// An empty wheel that stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            timers: Slab::default(),
            slots: Box::new([[NONE; SLOTS]; LEVELS]),
            taken: [0; LEVELS],
            now: u64::try_from(now.timestamp_millis()).unwrap_or(0),
            set: 0,
        }
    }

    /// Sets a timer for `at`; one in the past fires with the next [`Self::advance`].
    pub fn insert(&mut self, key: K, at: Timestamp) -> Timer {
        let index = self.timers.add(key, tick_of(at).max(self.now));
        self.place(index);
        self.set += 1;
        Timer { index, generation: self.timers.generation(index) }
    }

    /// Takes a timer out again and gives its key back; `None` where it has fired or was cancelled.
    pub fn cancel(&mut self, timer: Timer) -> Option<K> {
        if self.timers.generation(timer.index) != timer.generation {
            return None;
        }
        let (level, slot) = self.timers.place(timer.index)?;
        let first = self.slots.get_mut(level)?.get_mut(slot)?;
        self.timers.unlink(timer.index, first);
        if *first == NONE {
            self.taken[level] &= !(1 << slot);
        }
        self.set -= 1;
        self.timers.remove(timer.index)
    }

    /// Moves on to `to` and gives the keys of all timers due until then, by their ticks.
    pub fn advance(&mut self, to: Timestamp) -> Vec<K> {
        let to = u64::try_from(to.timestamp_millis()).unwrap_or(0).max(self.now);
        let mut due = Vec::new();
        while let Some((level, slot, tick)) = self.next_slot().filter(|next| next.2 <= to) {
            self.now = tick;
            self.taken[level] &= !(1 << slot);
            let mut index = std::mem::replace(&mut self.slots[level][slot], NONE);
            while index != NONE {
                let next = self.timers.next(index);
                if level == 0 {
                    due.extend(self.timers.remove(index));
                    self.set -= 1;
                } else {
                    self.place(index);
                }
                index = next;
            }
        }
        self.now = to;
        due
    }

    /// No timer is due before this; `None` while it is empty. It may be earlier than the first due time: then [`Self::advance`]
    /// gives nothing, and this is to be asked again, at most ten times in a row.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let (_, _, tick) = self.next_slot()?;
        Timestamp::from_timestamp_millis(i64::try_from(tick).ok()?)
    }

    /// Timers set.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.set
    }

    /// Whether no timer is set.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.set == 0
    }

    /// The first slot that has timers, and the tick at which it begins.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        let level = self.taken.iter().position(|slots| *slots != 0)?;
        let slot = self.taken[level].trailing_zeros();
        let shift = BITS * u32::try_from(level).ok()?;
        let above = self.now.checked_shr(shift + BITS).unwrap_or(0);
        let tick = above.checked_shl(shift + BITS).unwrap_or(0) | u64::from(slot) << shift;
        Some((level, slot as usize, tick.max(self.now)))
    }

    /// Puts a timer where its tick belongs.
    fn place(&mut self, index: u32) {
        let tick = self.timers.tick(index);
        let differs = (tick ^ self.now).checked_ilog2().unwrap_or(0);
        let level = (differs / BITS) as usize;
        let slot = (tick >> (level as u32 * BITS)) as usize % SLOTS;
        let first = &mut self.slots[level][slot];
        self.timers.link(index, (level, slot), first);
        self.taken[level] |= 1 << slot;
    }
}

#[cfg(test)]
mod tests;
