//! What one can do with tasks.

pub mod approve;
pub mod attempts;
pub mod batch;
pub mod cancel;
pub mod change;
pub mod chunk;
pub mod complete;
mod decide;
pub mod explain;
pub mod follow;
pub mod get;
mod judged;
mod lever;
mod links;
pub mod list;
mod log_range;
pub mod logs;
pub mod mark_succeeded;
mod quoted;
mod raw_logs;
pub mod reject;
pub mod rerun;
pub mod result;
pub mod retry;
pub mod run_now;
pub mod submit;
pub mod submit_batch;
pub mod submit_lines;

pub(super) use quoted::{QuotedBatch, batch as quoted_batch, task as quoted_task};
