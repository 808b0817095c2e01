//! `/v1/workflow-runs`: runs of workflows.

mod begin;
pub mod cancel;
pub mod get;
pub mod graph;
pub mod list;
mod place;
pub mod rerun;
pub mod start;

pub(super) use begin::usable_pools;
pub(super) use start::{Asked, checked_run};
