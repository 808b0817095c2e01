//! The wire types of the HTTP API: answers, requests, ids, limits and error codes.
//!
//! Defined once, for the server, which writes answers and derives its OpenAPI document from them (feature `openapi`), and for its
//! clients, which read them. Unknown fields of answers are ignored; an enum value that this version does not know is
//! [`Extensible::Other`]. Ids are those of `domain::id`.
#![warn(missing_docs)]

mod attempt;
mod audit;
mod batch;
mod concurrency;
mod cost;
mod error_code;
mod event;
mod executor;
mod explanation;
mod extensible;
mod invoice;
mod key;
mod limits;
mod log;
#[cfg(feature = "openapi")]
pub mod openapi;
mod operator;
mod overview;
mod page;
mod plan;
mod pool;
mod pool_flow;
mod price;
mod price_dry_run;
mod problem;
mod quote;
mod raw_json;
pub mod request;
mod restore;
mod schedule;
mod secret;
pub mod sentences;
mod session;
mod spend_cap;
mod status;
mod task;
mod tenant;
mod text_id;
mod time;
mod usage;
mod user;
mod webhook;
mod workflow;

pub use attempt::{Attempt, AttemptState};
pub use audit::{AuditActor, AuditEntry, AuditTarget};
pub use batch::{BatchItem, BatchResult, BatchSummary, BatchTask, TaskState};
pub use concurrency::{ConcurrencyLimit, ConcurrencyUse};
pub use cost::{Cost, CostBill, CostOfMonth, CostTotal, Costs, TenantCost, TenantCosts};
/// Actors, credentials and actions of the audit log: the domain's.
pub use domain::audit::{ActorId, ActorKind, AuditAction, CredentialId, TargetKind};
pub use error_code::{ErrorCode, ErrorCodeInfo};
pub use event::Event;
pub use executor::{Executor, Quantities};
pub use explanation::{Explanation, StartEstimate};
pub use extensible::Extensible;
pub use invoice::{Credit, Invoice, InvoiceAttempt, InvoiceCustomer, InvoiceLine, TenantBilling};
pub use key::{ApiKey, NewApiKey, RotatedApiKey};
pub use limits::{
    LimitSource, LimitWarning, LimitWarningKind, Limits, QuotaUse, RateName, RateUse,
};
pub use log::{FollowedState, LogChunk, LogChunkJson, Stream};
pub use operator::{NewOperatorKey, Operator, OperatorKey, RotatedOperatorKey};
pub use overview::{Overview, OverviewLive, OverviewRecent, OverviewState, OverviewWait};
pub use page::{DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE_BYTES, Page, PageRequest};
pub use plan::{DeletedPlan, Plan};
pub use pool::{DeletedPool, MaxExecutor, Pool, PoolGrants, PoolPaused};
pub use pool_flow::{PoolDispatch, PoolFlow, PoolHop, PoolShare};
pub use price::{DeletedPriceBook, PriceBook};
pub use price_dry_run::{PriceDryRun, PriceDryRunTenant};
pub use problem::{FieldError, Problem};
pub use quote::{
    Quote, QuoteCap, QuoteCheaper, QuoteEstimate, QuoteLine, QuoteMonth, QuoteRejected, QuoteStart,
};
pub use raw_json::RawJson;
pub use restore::{OverdueSchedule, Restore, UnfinishedTasks};
pub use schedule::{
    DeletedSchedule, DueMark, Fire, FireKind, Schedule, ScheduleBackfillPlan, ScheduleDue,
    SchedulePaused, SchedulePreview, ScheduleState, ScheduleTask, ScheduledWorkflow,
};
pub use secret::Secret;
pub use session::{
    AcceptedUser, OwnKey, OwnUser, PasswordChanged, Session, SignedIn, SignedOut, TokenType, WhoAmI,
};
pub use spend_cap::{DeletedSpendCap, LabelIs, SpendAlert, SpendCap, SpendCapPut};
pub use status::{Status, StatusDay, StatusFigures};
pub use task::{
    CancelResult, CancelledTask, CompletedTask, Retry, Task, TaskCost, TaskParent, TaskReservation,
    TaskWarning, WarningCode,
};
pub use tenant::Tenant;
pub use text_id::{Cursor, KeyId, RequestId, SessionLabel, TargetId};
pub use time::DateTime;
pub use usage::{Usage, UsageAmounts, UsageOfStep};
pub use user::{NewUser, User, UserState};
pub use webhook::{
    DeletedWebhook, ReplayOf, Webhook, WebhookDelivery, WebhookPut, WebhookReplay, WebhookReplayed,
    WebhookRotate, WebhookTry,
};
pub use workflow::{
    CancelledWorkflowRun, DeletedWorkflow, GraphItem, GraphNode, GraphParent, GraphWait, Signal,
    Workflow, WorkflowGraph, WorkflowRun, WorkflowVersion,
};
