//! Bodies of requests.
//!
//! The server reads them strictly: unknown fields are refused. A field whose value has a form of its own is a [`Given`],
//! and a required field of a task or a schedule an `Option`, so that the server can report several mistakes at once. Fields that are
//! left out have the server's defaults.

mod access;
mod billing;
mod canary;
mod completion;
mod dependency;
mod given;
mod key;
mod lever;
mod operator;
mod pairs;
mod quote;
mod run;
mod schedule;
mod task;
mod timing;
mod workflow;

pub use access::{
    InvitationAccept, PasswordChange, SessionRefresh, SignIn, SignUp, UserChange, UserCreate,
    UserInvite, UserPut,
};
pub use billing::{CreditCreate, TenantBillingPut};
pub use canary::CanaryReport;
pub use completion::{CompletionOutcome, TaskCompletion};
pub use dependency::{Dependency, MAX_REF, ParentName, is_ref};
pub use given::{Form, Given, Written, Wrong};
pub use key::{ApiKeyCreate, ApiKeyRotate, ConcurrencyLimitPut, OperatorKeyCreate};
pub use lever::MarkSucceeded;
pub use operator::{
    MaxExecutorPut, PoolGrantsPut, PoolPause, PoolPut, TenantChange, TenantCreate, TenantPut,
};
pub use pairs::Pairs;
pub use quote::QuoteAsk;
pub use run::{CommandRun, HttpRun, NoopRun, Run};
pub use schedule::{
    CatchUp, Misfire, NewSchedule, ScheduleBackfill, SchedulePause, SchedulePreviewAsk,
    ScheduleWorkflow,
};
pub use task::{NewTask, Resources, Retry, TaskBatch};
pub use timing::{Daily, Every, Monthly, Timing, Weekly, When, Yearly};
pub use workflow::{
    Decision, Entries, NewNode, NewSignal, NewWait, NewWorkflowRun, NodeParent, WorkflowDefinition,
    WorkflowRerun,
};
