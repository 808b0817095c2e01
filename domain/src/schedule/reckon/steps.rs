//! A work limit for the computation of due times.
//!
//! A step is one day, month or clock change, some tens of nanoseconds; expensive operations count as several. Steps
//! instead of time, so that the result is the same on every machine.

use std::cell::Cell;

/// Remaining steps, shared within one computation.
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

    /// The number.
    #[must_use]
    pub const fn new(most: u64) -> Self {
        Self { left: Cell::new(most), is_out: Cell::new(false) }
    }

    /// No bound: for what was checked when it was stored, and must be found.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Whether the limit was reached: then the result is incomplete.
    #[must_use]
    pub const fn is_out(&self) -> bool {
        self.is_out.get()
    }

    /// Subtracts `steps`; `None` if fewer remain.
    pub(super) fn take(&self, steps: u64) -> Option<()> {
        let left = self.left.get().checked_sub(steps);
        match left {
            Some(left) => self.left.set(left),
            None => self.is_out.set(true),
        }
        left.map(drop)
    }
}
