//! `berth quote`: what a task, a workflow run or a month of a schedule would cost.

mod ask;
mod schedule;
mod show;
mod task;
mod workflow;

pub use schedule::{QuoteScheduleArguments, run as schedule};
pub use task::{QuoteTaskArguments, run as task};
pub use workflow::{QuoteWorkflowArguments, run as workflow};
