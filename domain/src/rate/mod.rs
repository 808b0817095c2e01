//! Rate limits.
//!
//! Used by the api for the rates of plans. Shared limits are counted in Redis by a script with the same arithmetic
//! (`api/src/limit/shared/gcra.lua`); alone, or without Redis, a process counts with these.

mod bucket;
mod window;

pub use bucket::{Bucket, Flow};
pub use window::{HOUR, Hour};
