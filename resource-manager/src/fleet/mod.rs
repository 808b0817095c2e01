//! The executors connected here, what each holds and what is free.

#[expect(clippy::module_inception, reason = "the fleet is what this folder holds")]
mod fleet;
mod lease;
mod seat;
#[cfg(test)]
mod tests;

pub(crate) use fleet::{Fleet, Grant, Placement, Released};
pub(crate) use lease::{HeldKey, HeldLease, submitted_under, trace_of};
pub(crate) use seat::{Seat, Stream};
