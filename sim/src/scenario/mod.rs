//! The scenarios: each draws a world from sizes and a seed.

mod arrivals;
mod backlogs;
mod list;
mod sizes;

pub use list::{SCENARIOS, Scenario, find};
pub use sizes::Sizes;
