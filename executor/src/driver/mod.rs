//! What a driver is: one way to run attempts.
//!
//! The agent finds the driver of an assignment by its name (`crate::drivers`) and starts the attempt through it. Whatever
//! comes after that (stops, caps, results, output) is the same for all of them.

mod attempt;
mod ending;
mod services;
mod start;

pub(crate) use attempt::Attempt;
pub(crate) use ending::{Ended, Ending, Why};
pub(crate) use services::Services;
pub(crate) use start::{Driver, Started, Stop};
