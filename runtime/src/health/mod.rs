//! Whether this process lives and whether it should get work.
//!
//! Live means its loops still turn: when not, only a restart helps. Ready means it can do its job
//! now: when not (Postgres is away, draining), restarting would not help, so the two are never mixed.

mod registry;
mod report;

pub use registry::Health;
pub use report::{Check, HealthReport};
