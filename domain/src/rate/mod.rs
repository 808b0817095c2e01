//! Rates: how much of something may come in how much time.
//!
//! The api holds submissions to a plan's rates with these. What several processes share is counted in Redis by a script with the same
//! arithmetic (`api/src/limit/shared/gcra.lua`); alone, or without Redis, a process counts with these.

mod bucket;
mod window;

pub use bucket::{Bucket, Flow};
pub use window::{HOUR, Hour};
