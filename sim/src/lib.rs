//! Scheduling quality under a virtual clock: the batcher's own order beside others, at sizes that no test machine has.
//!
//! Reached as `berth sim`. It runs `domain`'s [`domain::batch::Turns`] and [`domain::placement::choose`] unchanged. The same
//! scenario, sizes and seed give the same figures on every machine.
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
pub use report::{Report, Row, compare};
pub use scenario::{SCENARIOS, Scenario, Sizes, find};
