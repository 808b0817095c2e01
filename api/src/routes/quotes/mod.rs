//! `/v1/quotes`: what something would cost that is not sent yet. Nothing is stored.
//!
//! - `task`, `workflow` and `schedule` check what is to be priced, as its submit does, and say of which tasks it is (`subject`).
//! - `price` says what these cost, `caps` what is left of the spend caps, `month` how often a schedule is due.

mod caps;
pub mod create;
mod month;
mod price;
mod schedule;
mod subject;
mod task;
mod workflow;
