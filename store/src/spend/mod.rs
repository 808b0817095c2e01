//! Spend caps: tasks that are accepted under caps reserve the most that they can cost, and never cost more.
//!
//! - `accept` says what a task reserves: its caps, and the prices that are known.
//! - `share` takes that from what is free of the caps, which is in a few rows each so that not all wait for one.
//! - `lack` says which cap has no room, and takes nothing.
//! - `watch` writes the alerts.
//! - What a task has cost, and the rest of its reservation, goes back in the statement that ends it (`end_tasks`).
//!
//! A reservation lives in the task's row. What is free is a sum that is kept in the same transactions: the doctor compares.

mod accept;
mod lack;
mod refusal;
mod share;
mod watch;

pub(crate) use accept::{Accepting, Candidate, KnownCaps, Terms, scope_of};
pub(crate) use lack::lack;
pub use refusal::CapRefusal;
pub(crate) use share::{Demand, SHARES, Shares, take_at_once};
pub use watch::{CapAlert, tell_used_up};
