//! Request and response types of the API.
//!
//! Unknown fields of responses are ignored.

mod attempt;
mod audit;
mod batch;
mod cancel;
mod concurrency;
mod executor;
mod filter;
mod follow;
mod key;
mod limits;
mod log;
mod new_task;
mod operator;
mod page;
mod plan;
mod pool;
mod restore;
mod schedule;
mod session;
mod task;
mod tenant;
mod usage;
mod user;

pub use attempt::Attempt;
pub use audit::{AuditActor, AuditEntry, AuditFilter, AuditTarget};
pub use batch::{BatchItem, BatchResult, BatchSummary, BatchTask};
pub use cancel::{CancelDone, Cancelled};
pub use concurrency::ConcurrencyLimit;
pub use executor::Executor;
pub use filter::{LabelFilter, ParseLabelFilterError, TaskFilter};
pub use follow::{FollowEvent, FollowedState};
pub use key::{ApiKey, NewApiKey, RotatedApiKey};
pub use limits::{LimitWarning, Limits, QuotaUse, RateUse};
pub use log::{LogChunk, LogFilter, Since, Stream};
pub use new_task::NewTask;
pub use operator::{NewOperatorKey, Operator, OperatorKey, RotatedOperatorKey};
pub use page::{Page, PageRequest};
pub use plan::{DeletedPlan, Plan};
pub use pool::{Pool, PoolGrants, PoolPause, PoolSettings};
pub use restore::{OverdueSchedule, Restore, UnfinishedTasks};
pub use schedule::{
    BackfillPlan, BackfillRange, DeletedSchedule, Fire, NewSchedule, Schedule, ScheduleDue,
    SchedulePaused, SchedulePreview,
};
pub use session::{AcceptedUser, Session, WhichKey, WhichUser, WhoAmI};
pub use task::{Task, TaskWarning};
pub use tenant::{Tenant, TenantFilter, TenantPut};
pub use usage::{Amounts, Usage, UsageOfDay};
pub use user::{NewUser, User};
