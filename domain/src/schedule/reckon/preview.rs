//! The next due times, without any state.

use super::{DueTime, Reckoner};
use crate::schedule::{Timing, TimingError};
use crate::time::Timestamp;

/// Due times of one preview, at most.
pub const MOST_PREVIEWED: usize = 1000;

/// The first `count` due times after `from` of a schedule that is created at `created_at`; fewer where it is over before.
///
/// # Errors
/// What is wrong with the timing.
pub fn preview(
    timing: &Timing,
    created_at: Timestamp,
    from: Timestamp,
    count: usize,
) -> Result<Vec<DueTime>, TimingError> {
    let reckoner = Reckoner::new(timing, created_at)?;
    let most =
        timing.max_fires.map_or(usize::MAX, |fires| usize::try_from(fires).unwrap_or(usize::MAX));
    let due = std::iter::successors(reckoner.next_after(from), |due| reckoner.next_after(due.at));
    Ok(due.take(count.min(MOST_PREVIEWED).min(most)).collect())
}
