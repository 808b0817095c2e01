//! A few real tasks, shown from their submit to their end, so that a first look shows something happen.

mod screen;
mod tasks;
mod watch;

pub use watch::show;
