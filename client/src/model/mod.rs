//! What is only a client's: filters. All other types are those of `api_types`.

mod audit;
mod filter;
mod follow;
mod log;
mod run_filter;
mod tenant;

pub use audit::AuditFilter;
pub use filter::{LabelFilter, ParseLabelFilterError, TaskFilter, WhichSchedule};
pub use follow::FollowEvent;
pub use log::{LogFilter, Since};
pub use run_filter::RunFilter;
pub use tenant::TenantFilter;
