//! Schedules: when they are due, and what becomes of each due time.
//!
//! [`Timing`] is what a customer says, [`Reckoner`] finds the due times in it, [`decide`] settles what is done about those that
//! have come. Time zones are the release that is built in ([`tzdb_release`]) and no other, so that every machine answers alike.

mod fire;
mod reckon;
mod timing;

pub use fire::{
    Coming, Decision, FailureStreak, FireRow, MOST_ROWS, Misfire, Next, Outcome, Overlap,
    ParseFireOutcomeError, ParseOverlapError, Situation, Source, TaskTemplate, decide,
    first_coming, jitter, upcoming,
};
pub use reckon::{
    DueTime, MOST_PREVIEWED, Marks, Previewed, Reckoner, Steps, Walk, is_same_meaning, preview,
    rules_version, tzdb_of, tzdb_release,
};
pub use timing::{
    Bound, ClockTime, Counting, Exclusion, ExclusionRange, Gap, MonthDay, ParseWordError, Repeat,
    Spec, Timing, TimingError, TimingProblem, Weekday, YearDay,
};
