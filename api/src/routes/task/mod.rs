//! What one can do with tasks.

pub mod attempts;
pub mod batch;
pub mod cancel;
pub mod chunk;
pub mod explain;
pub mod follow;
pub mod get;
mod judged;
mod links;
pub mod list;
mod log_range;
pub mod logs;
mod raw_logs;
pub mod rerun;
pub mod result;
pub mod submit;
pub mod submit_batch;
pub mod submit_lines;
