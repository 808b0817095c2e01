//! Scheduling quality under a virtual clock: the batcher's order compared with others, at sizes beyond any test
//! machine.
//!
//! Run by `berth sim`. It uses [`domain::batch::Turns`] and [`domain::placement::choose`] unchanged. The same scenario,
//! sizes and seed give the same figures on every machine.
#![warn(missing_docs)]

mod chart;
mod measure;
mod policy;
mod random;
mod report;
mod run;
mod scenario;
mod world;

pub use chart::chart;
pub use policy::PolicyName;
pub use report::{PolicyFigures, Report, compare};
pub use scenario::{SCENARIOS, Scenario, Sizes, find};
