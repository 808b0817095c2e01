//! Which retries this process lets through, and when those that were held go: see docs/retries.md.

mod budgets;
mod release;

pub(crate) use budgets::Budgets;
pub(crate) use release::{RELEASE_INTERVAL, Releaser};
