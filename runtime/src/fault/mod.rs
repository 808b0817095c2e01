//! Named places where a test can make Berth fail.
//!
//! `static SPOOLED: FaultPoint = FaultPoint::new("executor.spooled");` and `SPOOLED.hit().await?` at the place.
//! Without the feature `fault-points` a hit is an empty inline function and the name is gone from the binary;
//! with it, a test sets an action for each point: fail, kill the process, or wait.
//!
//! They stand on both sides of what each step commits: a submit, the batcher's mark and its hints, a fire, a claim, a
//! settlement, a reaping. The crate `faults` lists them all, with what each means and a test that fails and kills there; a point
//! that is not in its list fails that crate's tests.

#[cfg(feature = "fault-points")]
mod active;
mod injected;
#[cfg(feature = "fault-points")]
mod plan;
mod point;

#[cfg(feature = "fault-points")]
pub use active::{clear, hits, set};
pub use injected::InjectedFault;
#[cfg(feature = "fault-points")]
pub use plan::{Action, ParsePlanError, Plan};
pub use point::FaultPoint;
