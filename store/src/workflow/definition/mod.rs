//! Definitions: kept under their names, each change a version on. A run has a copy, so that a change touches no run.

mod delete;
mod list;
mod put;
mod record;
mod versions;

pub(crate) use delete::keep;
pub use delete::{DeleteAnswer, delete};
pub use list::{get, list};
pub use put::{PutAnswer, PutWorkflow, put};
pub use record::WorkflowRecord;
pub(crate) use record::read_plan;
pub use versions::{VersionRecord, version, versions};
