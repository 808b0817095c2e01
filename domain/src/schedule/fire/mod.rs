//! What becomes of a due time: one outcome each, and for some a task.

mod decide;
mod due;
mod jitter;
mod misfire;
mod outcome;
mod overlap;
mod streak;
mod template;

pub use decide::{Decision, FireRow, MOST_ROWS, Next, Situation, decide};
pub use jitter::jitter;
pub use misfire::Misfire;
pub use outcome::{Outcome, ParseFireOutcomeError};
pub use overlap::{Overlap, ParseOverlapError};
pub use streak::FailureStreak;
pub use template::TaskTemplate;

#[cfg(test)]
mod tests;
