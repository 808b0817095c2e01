//! `/v1/admin/pools`: groups of executors, what their tasks may do, and who may use them.

pub mod delete;
pub mod flow;
pub mod get;
pub mod list;
pub mod pause;
pub mod put;
pub mod resume;
mod view;
