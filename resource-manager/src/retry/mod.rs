//! Retry budgets and circuit breakers: see docs/retries.md.

mod budgets;
mod release;

pub(crate) use budgets::Budgets;
pub(crate) use release::{RELEASE_INTERVAL, Releaser};
