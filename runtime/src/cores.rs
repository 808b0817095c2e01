//! How many threads a part of a process has by default.
//!
//! A machine that runs one role runs others and mostly an engine, too: so half of its cores.

use std::num::NonZero;
use std::thread::available_parallelism;

/// Half of the machine's cores, at least one.
#[must_use]
pub fn half() -> usize {
    half_of(available_parallelism().map_or(1, NonZero::get))
}

/// Half of so many, at least one.
#[must_use]
pub const fn half_of(cores: usize) -> usize {
    if cores < 2 { 1 } else { cores / 2 }
}
