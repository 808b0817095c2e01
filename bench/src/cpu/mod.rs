//! Processor time by process, from `/proc`, before and after a phase.
//!
//! The kernel counts in ticks of 10 ms, so a phase should last seconds. Kernel threads that write to the disk are not
//! attributed to a process and show only in the total of the machine.

mod find;
mod meter;
mod process;

pub use find::{holder_of_port, postmaster};
pub use meter::{Cpu, Meter};
