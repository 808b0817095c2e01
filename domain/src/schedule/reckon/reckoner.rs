//! Finds the due times of one timing, which it has read once.

use super::DueTime;
use crate::schedule::{Timing, TimingError};
use crate::time::Timestamp;

/// A timing, ready to be asked.
#[derive(Debug, Clone)]
pub struct Reckoner {}

impl Reckoner {
    /// Reads `timing` of a schedule that is created at `created_at`.
    ///
    /// # Errors
    /// What is wrong with it; also that it is never due after its creation.
    pub fn new(timing: &Timing, created_at: Timestamp) -> Result<Self, TimingError> {
        let _ = (timing, created_at);
        Ok(Self {})
    }

    /// The first due time strictly after `after`. With a fixed delay only the first of all: each other is told by
    /// [`Self::after_end`].
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<DueTime> {
        let _ = after;
        None
    }

    /// With a fixed delay, the due time that follows a task which ended at `ended`.
    #[must_use]
    pub fn after_end(&self, ended: Timestamp) -> Option<DueTime> {
        let _ = ended;
        None
    }
}
