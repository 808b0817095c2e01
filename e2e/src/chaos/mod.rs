//! Attacks a whole Berth on purpose, and says which of its promises held.
//!
//! Used by `make chaos` and, in small, by `make test`. A [`Scenario`] is a load and a seeded list of [`Fault`]s; [`run`] sends
//! the load through once in peace and once under the faults, and judges both from outside: from the tables, from the
//! ledger that the tasks write, from what customers were answered. The rule: the same seed does the same to the same, and a promise
//! that a scenario did not put to the test is told as such. See docs/chaos.md.

mod chart;
mod churn;
mod churn_report;
mod engine;
mod fault;
mod flow;
mod inject;
mod judge;
mod load;
mod plan;
mod probe;
mod report;
mod rig;
mod run;
mod sample;
mod scenario;
mod watch;

pub use churn::churn;
pub use fault::{Cut, Fault, Kind, Link, Planned, Victim};
pub use inject::Done;
pub use plan::plan;
pub use report::Report;
pub use run::{Progress, run};
pub use scenario::{Faults, Scenario};
