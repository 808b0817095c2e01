//! Processor time by process, from `/proc`, before and after a phase.
//!
//! The kernel counts in ticks of 10 ms, so a phase should last seconds. It is a count, not a profile; kernel threads that
//! write to the disk belong to nobody here and show only in the machine's total.

mod find;
mod meter;
mod process;

pub use find::{holder_of_port, postmaster};
pub use meter::{Cpu, Meter};
