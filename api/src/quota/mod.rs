//! Quotas of a tenant's plan, as far as the api holds them: what is in the backlog, and the size of a task.
//!
//! `ledger` is the arithmetic of one tenant in this process, `backlog` asks the database and hands out room, `refusal` says
//! which quota is used up and what lifts it. Running tasks are the batcher's to limit, output the resource manager's.

mod backlog;
mod ledger;
mod refusal;
mod size;

pub(crate) use backlog::{Backlog, Room};
pub(crate) use refusal::Refusals;
pub(crate) use size::TaskSize;
