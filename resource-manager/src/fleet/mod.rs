//! Connected executors with their leases and free room.

mod executor_connection;
#[expect(clippy::module_inception, reason = "the fleet is what this folder holds")]
mod fleet;
mod lease;
#[cfg(test)]
mod tests;

pub(crate) use executor_connection::{ExecutorConnection, Stream};
pub(crate) use fleet::{Fleet, Grant, Placement, Released};
pub(crate) use lease::{HeldLease, submitted_under, trace_of};
