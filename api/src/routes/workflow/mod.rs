//! `/v1/workflows`: definitions of workflows.

pub mod delete;
pub mod get;
pub mod list;
mod place;
pub mod put;
pub mod version;
pub mod versions;

pub(super) use place::no_such_workflow;
pub(super) use put::checked;
