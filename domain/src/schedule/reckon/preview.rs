//! The next due times, without any state.

use super::{DueTime, Reckoner, Steps};
use crate::schedule::{Timing, TimingError};
use crate::time::Timestamp;

/// Due times of one preview, at most.
pub const MOST_PREVIEWED: usize = 1000;

/// Due times to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Previewed {
    /// Them, the first first.
    pub due: Vec<DueTime>,
    /// It took too long to find more of them; there may be some.
    pub is_cut: bool,
}

/// The first `count` due times after `from` of a schedule that is created at `created_at`; fewer where it is over before, or `steps` are
/// out.
///
/// # Errors
/// What is wrong with the timing.
pub fn preview(
    timing: &Timing,
    (created_at, from): (Timestamp, Timestamp),
    count: usize,
    steps: Steps,
) -> Result<Previewed, TimingError> {
    let reckoner = Reckoner::within(timing, created_at, &steps)?;
    let most =
        timing.max_fires.map_or(usize::MAX, |fires| usize::try_from(fires).unwrap_or(usize::MAX));
    let (mut walk, mut after, mut due) = (reckoner.walk(), from, Vec::new());
    while due.len() < count.min(MOST_PREVIEWED).min(most)
        && let Some(next) = walk.next_after(after, &steps)
    {
        after = next.at;
        due.push(next);
    }
    Ok(Previewed { due, is_cut: steps.is_out() })
}
