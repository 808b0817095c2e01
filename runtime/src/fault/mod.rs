//! Named places where a test can make Berth fail.
//!
//! `static AFTER_CLAIM: FaultPoint = FaultPoint::new("rm.after_claim");` and
//! `AFTER_CLAIM.hit().await?` at the place. Without the feature `fault-points` a hit is an empty inline
//! function and the name is gone from the binary; with it, a test sets an action for each point: fail,
//! kill the process, or wait. Every step of every multi-step operation has one.

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
