//! How much may be done to find due times.
//!
//! A step is one day, month or change of clocks that is looked at, some tens of nanoseconds; what costs as much as several counts as
//! several. Steps and not time, so that a timing is judged alike on every machine.

use std::cell::Cell;

/// What is left to be done; shared by all that look for the same thing.
#[derive(Debug, Clone)]
pub struct Steps {
    left: Cell<u64>,
    is_out: Cell<bool>,
}

/// Steps of one change of a zone's clocks.
pub(super) const OF_STRETCH: u64 = 10;

impl Steps {
    /// For the first due time of a timing that somebody gives: some 3 ms. Sixteen patterns of a 29th of February on a certain weekday,
    /// which may be 40 years away, take half of it.
    pub const OF_A_CHECK: u64 = 50_000;
    /// For a page of due times: some 100 ms.
    pub const OF_A_PREVIEW: u64 = 3_000_000;

    /// So many.
    #[must_use]
    pub const fn new(most: u64) -> Self {
        Self { left: Cell::new(most), is_out: Cell::new(false) }
    }

    /// No bound: for what was checked when it was stored, and must be found.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Whether more was to be done than might be: then what was found is not all, and that nothing was found means nothing.
    #[must_use]
    pub const fn is_out(&self) -> bool {
        self.is_out.get()
    }

    /// Takes `steps`; `None` where there are not as many.
    pub(super) fn take(&self, steps: u64) -> Option<()> {
        let left = self.left.get().checked_sub(steps);
        match left {
            Some(left) => self.left.set(left),
            None => self.is_out.set(true),
        }
        left.map(drop)
    }
}
