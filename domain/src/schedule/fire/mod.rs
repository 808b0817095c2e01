//! Fires: one outcome per due time, and for some a task or a workflow run.

mod decide;
mod due;
mod jitter;
mod made;
mod misfire;
mod outcome;
mod overlap;
mod situation;
mod start;
mod streak;
mod template;
mod timeline;

pub use decide::{Decision, FireRow, Next, decide};
pub use jitter::jitter;
pub use made::Made;
pub use misfire::Misfire;
pub use outcome::{Outcome, ParseFireOutcomeError};
pub use overlap::{Overlap, ParseOverlapError};
pub use situation::{MOST_ROWS, Situation};
pub use start::{FireTemplate, WorkflowStart};
pub use streak::FailureStreak;
pub use template::TaskTemplate;
pub use timeline::{Coming, Source, first_coming, upcoming};

#[cfg(test)]
mod made_up_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timeline_tests;
