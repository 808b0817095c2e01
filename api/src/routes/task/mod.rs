//! What one can do with tasks.

pub mod attempts;
pub mod cancel;
pub mod get;
pub mod list;
pub mod logs;
mod raw_logs;
pub mod submit;
pub mod submit_batch;
