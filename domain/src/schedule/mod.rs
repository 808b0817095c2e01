//! Schedules: due times and their outcomes.
//!
//! [`Timing`] is the customer's input, [`Reckoner`] computes its due times, [`decide`] their outcomes. Only the
//! built-in release of time zone data is used ([`tzdb_release`]), so that all machines agree.

mod fire;
mod reckon;
mod timing;

pub use fire::{
    Coming, Decision, FailureStreak, FireRow, FireTemplate, MOST_ROWS, Made, Misfire, Next,
    Outcome, Overlap, ParseFireOutcomeError, ParseOverlapError, Situation, Source, TaskTemplate,
    WorkflowStart, decide, first_coming, jitter, upcoming,
};
pub use reckon::{
    DueTime, MOST_PREVIEWED, Marks, Previewed, Reckoner, Steps, Walk, is_same_meaning, preview,
    rules_version, tzdb_of, tzdb_release,
};
pub use timing::{
    Bound, ClockTime, Counting, Exclusion, ExclusionRange, Gap, MonthDay, ParseWordError, Repeat,
    Spec, Timing, TimingError, TimingProblem, Weekday, YearDay,
};
