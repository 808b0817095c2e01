//! Settles what executors report: task, attempt and usage in one statement an event.

mod group;
mod next;
mod settler;
#[cfg(test)]
mod tests;

pub(crate) use settler::{Reported, Settler, unit};
