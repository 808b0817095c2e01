//! Named places where a test can make Berth fail.
//!
//! `static SPOOLED: FaultPoint = FaultPoint::new("executor.spooled");` and `SPOOLED.hit().await?` at the place.
//! Without the feature `fault-points` a hit is an empty inline function and the name is gone from the binary;
//! with it, a test sets an action for each point: fail, kill the process, or wait.
//!
//! There are four: `api.submit.before_insert` and `api.submit.after_commit` around the statement that stores a
//! group of submits, `executor.ended` when a command has ended and nobody knows it, `executor.spooled` when its
//! result is on disk and not reported. The other steps are tested by killing real processes and cutting connections.

#[cfg(feature = "fault-points")]
mod active;
#[cfg(feature = "fault-points")]
mod plan;
mod point;

#[cfg(feature = "fault-points")]
pub use active::{clear, hits, set};
#[cfg(feature = "fault-points")]
pub use plan::{Action, ParsePlanError, Plan};
pub use point::{FaultPoint, InjectedFault};
