//! What is only a client's: filters, and requests with the server's defaults left out. All other types are those of `api_types`.

mod audit;
mod filter;
mod follow;
mod log;
mod new_task;
mod schedule;
mod tenant;

pub use audit::AuditFilter;
pub use filter::{LabelFilter, ParseLabelFilterError, TaskFilter, WhichSchedule};
pub use follow::FollowEvent;
pub use log::{LogFilter, Since};
pub use new_task::NewTask;
pub use schedule::NewSchedule;
pub use tenant::TenantFilter;
