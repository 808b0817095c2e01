//! `/costs`: what was used and what it costs, down to the attempts; spend caps; lines of invoices.

mod amount;
pub(crate) mod cap;
mod drill;
pub(crate) mod line;
pub(crate) mod page;
