//! An amount of something that many keys share, of which each may hold no more than its share.
//!
//! Used for bytes of request bodies in memory, running reads, live streams and DNS lookups: without it one tenant could use up what all
//! share. A [`Share`] releases its amount when it is dropped, however its holder ends. Nothing waits here: a request that
//! does not fit gets at once which of the two limits it met.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The amount and who holds how much of it; cheap to clone.
#[derive(Debug)]
pub struct Shares<K> {
    held: Arc<Mutex<Held<K>>>,
    total: usize,
    share: usize,
}

#[derive(Debug)]
struct Held<K> {
    total: usize,
    by_key: HashMap<K, usize>,
}

/// What one holder has. Given back when dropped.
#[derive(Debug)]
pub struct Share<K: Eq + Hash + Clone> {
    shares: Shares<K>,
    key: K,
    amount: usize,
}

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// The key holds as much as one may.
    #[error("the share of this key is in use")]
    OfKey,
    /// All keys together hold all there is.
    #[error("all there is is in use")]
    AtAll,
}

impl<K> Clone for Shares<K> {
    fn clone(&self) -> Self {
        Self { held: Arc::clone(&self.held), total: self.total, share: self.share }
    }
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// `total` for all keys together, of which one may hold `share`.
    #[must_use]
    pub fn new(total: usize, share: usize) -> Self {
        let held = Held { total: 0, by_key: HashMap::new() };
        Self { held: Arc::new(Mutex::new(held)), total, share }
    }

    /// `amount` for `key`; 0 holds nothing and can grow.
    ///
    /// # Errors
    /// [`NoRoom`], and nothing is held.
    pub fn acquire(&self, key: K, amount: usize) -> Result<Share<K>, NoRoom> {
        let mut share = Share { shares: self.clone(), key, amount: 0 };
        share.grow(amount)?;
        Ok(share)
    }

    /// What all keys together hold.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.lock().total
    }

    /// What one key may hold.
    #[must_use]
    pub const fn share(&self) -> usize {
        self.share
    }

    fn lock(&self) -> MutexGuard<'_, Held<K>> {
        self.held.lock()
    }
}

impl<K: Eq + Hash + Clone> Share<K> {
    /// Holds `more` besides what it holds.
    ///
    /// # Errors
    /// [`NoRoom`], and it holds what it held.
    pub fn grow(&mut self, more: usize) -> Result<(), NoRoom> {
        if more == 0 {
            return Ok(());
        }
        let mut held = self.shares.lock();
        let of_key = held.by_key.get(&self.key).copied().unwrap_or_default();
        if of_key.checked_add(more).is_none_or(|sum| sum > self.shares.share) {
            return Err(NoRoom::OfKey);
        }
        if held.total.checked_add(more).is_none_or(|sum| sum > self.shares.total) {
            return Err(NoRoom::AtAll);
        }
        held.total += more;
        held.by_key.insert(self.key.clone(), of_key + more);
        drop(held);
        self.amount += more;
        Ok(())
    }

    /// Gives back `less` of what it holds, at most all.
    pub fn shrink(&mut self, less: usize) {
        let less = less.min(self.amount);
        if less == 0 {
            return;
        }
        self.amount -= less;
        let mut held = self.shares.lock();
        held.total -= less;
        if let Some(of_key) = held.by_key.get_mut(&self.key) {
            *of_key -= less;
            if *of_key == 0 {
                held.by_key.remove(&self.key);
            }
        }
    }

    /// What it holds.
    #[must_use]
    pub const fn amount(&self) -> usize {
        self.amount
    }
}

impl<K: Eq + Hash + Clone> Drop for Share<K> {
    fn drop(&mut self) {
        self.shrink(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_holds_its_share_and_all_together_the_total_and_all_comes_back() {
        let shares = Shares::new(10, 6);
        let mut first = shares.acquire("a", 4).unwrap();
        assert_eq!(first.grow(3), Err(NoRoom::OfKey));
        assert_eq!(first.grow(2), Ok(()));
        assert_eq!(shares.acquire("a", 1).err(), Some(NoRoom::OfKey));
        let other = shares.acquire("b", 4).unwrap();
        assert_eq!(shares.acquire("c", 1).err(), Some(NoRoom::AtAll));
        first.shrink(5);
        assert_eq!((first.amount(), shares.in_use()), (1, 5));
        drop((first, other));
        assert_eq!(shares.in_use(), 0);
        assert!(shares.lock().by_key.is_empty(), "keys that hold nothing are forgotten");
    }

    #[test]
    fn what_could_never_fit_is_refused_without_wrapping() {
        let shares = Shares::new(usize::MAX, usize::MAX);
        let mut share = shares.acquire((), usize::MAX).unwrap();
        assert_eq!(share.grow(1), Err(NoRoom::OfKey));
        share.shrink(usize::MAX);
        assert_eq!(shares.in_use(), 0);
    }
}
